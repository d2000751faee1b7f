from engine.callers.jwt.identity import (
    is_signed,
    issuer_identities,
    issuer_identity,
    issuer_of,
    revocable,
    revoked_identities,
    unrevocable,
)
from engine.values.caller import digest
from tests.support.signed_tokens import ENTRY, ISSUER, issuers

LISTED = (ENTRY % ", revoked: [a, b]", "{issuer: 'https://b.example', audience: x}")


def test_an_identity_tells_of_which_kind_a_token_is():
    assert is_signed(revocable(ISSUER, "1"))
    assert is_signed(unrevocable(ISSUER, digest("secret")))
    assert not is_signed(digest("secret"))


def test_an_identity_tells_the_issuer_whatever_its_token_says():
    for identity in (revocable(ISSUER, "1\n2"), unrevocable(ISSUER, "0a")):
        assert issuer_of(identity) == issuer_identity(ISSUER)
    assert issuer_of(revocable("https://a", "x")) != issuer_of(revocable("https://a:80", "x"))


def test_the_revoked_tokens_of_all_issuers():
    listed = issuers(*LISTED)
    assert revoked_identities(listed) == {revocable(ISSUER, "a"), revocable(ISSUER, "b")}


def test_the_issuers_of_a_config():
    expected = {issuer_identity(ISSUER), issuer_identity("https://b.example")}
    assert issuer_identities(issuers(*LISTED)) == expected
