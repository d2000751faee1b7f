import pytest

from engine.callers.jwt.issuer_choice import check_claims, choose_issuer
from engine.callers.jwt.refusal import TokenRefused
from tests.support.signed_tokens import ENTRY, claims, issuers

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
