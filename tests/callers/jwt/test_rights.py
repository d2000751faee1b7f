import pytest

from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.rights import caller_of, check_claims, choose_issuer, meets
from engine.values.json_pointer import ClaimPlace
from engine.values.quota import Quota
from tests.support.signed_tokens import ENTRY, NOW, claims, issuers


def issuer(more: str):
    (entry,) = issuers(ENTRY % f", {more}")
    return entry


def caller(more: str, **changes):
    return caller_of(issuer(more), claims(**changes), "USD")


def test_a_claim_comes_before_what_the_entry_says():
    assert caller("team: all, claims: {team: 'groups[0]'}", groups=["search"]).team == "search"
    assert caller("team: all, claims: {team: 'groups[0]'}").team == "all"


@pytest.mark.parametrize("value", [["a", "b*"], "a b*"])
def test_models_are_a_list_or_names_with_blanks(value):
    assert caller("claims: {models: scope}", scope=value).models == ("a", "b*")


def test_a_mapped_claim_that_is_absent_allows_nothing():
    assert caller("claims: {models: scope}").models == ()
    assert caller("claims: {models: scope}, models: [small]").models == ("small",)
    assert caller("models: [small]").models == ("small",)
    assert caller("team: x").models is None


def test_a_limit_of_a_claim_replaces_that_of_its_kind():
    limits = caller("rate: 5/1m, concurrency: 2, claims: {rate: rpm}", rpm="60/1m").limits
    assert limits == (Quota("concurrency", 2), Quota("requests", 60, 60.0))


def test_the_prefix_is_that_of_the_entry():
    assert caller("prefix: 'people:'").name == "people:ada"
    assert caller("prefix: ''").name == "ada"


def test_the_leeway_is_part_of_the_expiry():
    (entry,) = issuers("{issuer: 'https://a.example', audience: x, leeway: 10s}")
    assert caller_of(entry, claims(), "USD").expires == NOW + 86_410


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        ("claims: {models: m}", {"m": 1}),
        ("claims: {models: m}", {"m": ["a", 1]}),
        ("claims: {models: m}", {"m": ["a"] * 201}),
        ("claims: {operations: m}", {"m": {"a": 1}}),
        ("claims: {team: m}", {"m": ["search"]}),
        ("claims: {team: m}", {"m": "a\nb"}),
        ("claims: {name: m}", {"m": True}),
        ("claims: {priority: m}", {"m": "highest"}),
        ("claims: {rate: m}", {"m": 60}),
        ("claims: {rate: m}", {"m": "60 per minute"}),
        ("claims: {budget: m}", {"m": "5 EUR/1d"}),
        ("claims: {concurrency: m}", {"m": "two"}),
    ],
)
def test_a_claim_of_the_wrong_form_is_refused_by_its_name(more, changes):
    with pytest.raises(TokenRefused, match="The claim 'm' of the token is not") as raised:
        caller(more, **changes)
    assert raised.value.is_known, "nobody has guessed it"


def test_a_token_without_the_name_of_its_bearer_is_signed_all_the_same():
    with pytest.raises(TokenRefused, match="no claim 'm', which names its bearer") as raised:
        caller("claims: {name: m}")
    assert raised.value.is_known


@pytest.mark.parametrize(
    ("allowed", "value", "expected"),
    [
        ("acme/*", "acme/web", True),
        ("acme/*", "evil/acme/web", False),
        ("[a, b]", "b", True),
        ("[a, b]", ["x", "a"], True),
        ("[a, b]", ["x"], False),
        ("'true'", True, True),
        ("'1'", 1, True),
        ("'*'", None, False),
        ("'*'", {"a": 1}, False),
        ("'*'", [], False),
    ],
)
def test_requirements(allowed, value, expected):
    assert meets(issuer(f"require: {{r: {allowed}}}"), {"r": value}) is expected


@pytest.mark.parametrize(
    ("value", "carried"),
    [("acme", "acme"), (7, "7"), (True, "true"), ("", None), (["a"], None), ("é", "#")],
)
def test_a_caller_carries_the_claims_by_which_limits_count(value, carried):
    places = [ClaimPlace.parse("tenant")]
    caller = caller_of(issuer("team: all"), claims(tenant=value), "USD", places)
    kept = caller.claims.get("tenant")
    assert kept == carried or (carried == "#" and kept.startswith("#") and len(kept) == 33)


ENTRIES = issuers(
    ENTRY % ", require: {groups: admins}, revoked: ['7']",
    ENTRY % "",
    "{issuer: 'https://b.example', audience: modelway}",
)


@pytest.mark.parametrize(
    ("changes", "entry"),
    [
        ({"groups": ["x", "admins"]}, 0),
        ({"groups": ["x"]}, 1),
        ({"iss": "https://b.example", "aud": ["other", "modelway"]}, 2),
    ],
)
def test_the_first_entry_that_claims_meet_decides(changes, entry):
    assert choose_issuer(ENTRIES, claims(**changes)) is ENTRIES[entry]


def test_claims_that_meet_no_entry_are_judged_by_the_first_of_their_issuer():
    assert choose_issuer(ENTRIES[:1], claims()) is ENTRIES[0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://c.example"}, "issuer"),
        ({"iss": ["https://b.example"]}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"aud": "other"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": [["modelway"]]}, "audience"),
    ],
)
def test_claims_of_no_entry_are_refused(changes, reason):
    with pytest.raises(TokenRefused, match=reason) as raised:
        choose_issuer(ENTRIES, claims(**changes))
    assert not raised.value.is_known


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({}, "required"), ({"groups": "admins", "jti": "7"}, "revoked")],
)
def test_verified_claims_that_an_entry_does_not_accept_are_refused(changes, reason):
    with pytest.raises(TokenRefused, match=reason) as raised:
        check_claims(ENTRIES[0], claims(**changes))
    assert raised.value.is_known


@pytest.mark.parametrize("token_id", ["8", ["7"], 7, None])
def test_other_claims_are_accepted(token_id):
    check_claims(ENTRIES[0], claims(groups="admins", jti=token_id))
