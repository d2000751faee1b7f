from engine.callers.jwt.identity import (
    is_signed,
    revocable,
    revoked_identities,
    unrevocable,
)
from engine.values.caller import digest
from tests.support.signed_tokens import ENTRY, ISSUER, issuers


def test_an_identity_tells_of_which_kind_a_token_is():
    assert is_signed(revocable(ISSUER, "1"))
    assert is_signed(unrevocable(digest("secret")))
    assert not is_signed(digest("secret"))


def test_the_revoked_tokens_of_all_issuers():
    listed = issuers(ENTRY % ", revoked: [a, b]", "{issuer: 'https://b.example', audience: x}")
    assert revoked_identities(listed) == {revocable(ISSUER, "a"), revocable(ISSUER, "b")}
