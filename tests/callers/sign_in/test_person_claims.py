"""Of the claims of a person, the config's own are kept, each under its place."""

from engine.callers.sign_in.person_claims import entry_of_facts, facts_of, places_of
from tests.support.each import each
from tests.support.signed_tokens import ENTRY, issuers

ENTRIES = issuers(
    ENTRY % ", claims: {name: email, team: 'groups[0]'}, require: {groups: 'team-*'}",
    ENTRY % ", prefix: 'x:', claims: {models: /https:~1~1a.b~1models}",
)
PLACES = places_of(ENTRIES, {"tenant.id"})


def test_the_places_are_those_of_all_entries_and_what_callers_carry():
    texts = {"email", "groups[0]", "groups", "sub", "/https:~1~1a.b~1models", "tenant.id"}
    assert {place.text for place in PLACES} == texts


@each(
    ("claims", "facts"),
    [
        ({}, {}),
        ({"email": "a@b", "phone": "1"}, {"email": "a@b"}),
        ({"groups": ["x", "team-a", "team-b"]}, {"groups[0]": "x", "groups": ["team-a", "team-b"]}),
        ({"groups": "team-a"}, {"groups": "team-a"}),
        ({"groups": [1, {"a": 1}]}, {"groups[0]": 1, "groups": []}),
        ({"https://a.b/models": ["m"]}, {"/https:~1~1a.b~1models": ["m"]}),
        ({"tenant": {"id": "t", "name": "n"}}, {"tenant.id": "t"}),
        ({"tenant": "t"}, {}),
    ],
)
def test_facts_are_the_values_at_the_places(claims, facts):
    assert facts_of(claims, PLACES, ENTRIES) == facts


def test_an_entry_reads_facts_as_it_reads_claims():
    claims = {"email": "a@b", "groups": ["x", "team-a"], "https://a.b/models": ["m"]}
    facts = facts_of(claims, PLACES, ENTRIES)
    for entry in ENTRIES:
        of_facts = entry_of_facts(entry, "client")
        assert of_facts.audience == ("client",)
        for field, place in entry.claims.items():
            assert of_facts.claims[field].read(facts) == place.read(claims)
