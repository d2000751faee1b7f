import pytest

from engine.callers.jwt.form import has_form, unverified
from engine.callers.jwt.refusal import TokenRefused
from tests.support.signed_tokens import claims, token


def test_a_token_is_known_by_its_form():
    assert has_form(token())


@pytest.mark.parametrize(
    "secret", ["", "mw-0", "eyJ", "eyJa.b", "eyJa.b.", "eyJa.b.c.d", "eyJa.b.c ", "xeyJa.b.c"]
)
def test_another_secret_is_none(secret):
    assert not has_form(secret)


def test_its_header_and_claims_are_read():
    header, read = unverified(token())
    assert (header["kid"], read) == ("ec", claims())


@pytest.mark.parametrize("secret", ["", "eyJ", "eyJ.eyJ.eyJ", "W10.W10.x", "e30.W10.x", "a.b.c"])
def test_what_has_no_claims_is_refused(secret):
    with pytest.raises(TokenRefused, match="not a valid"):
        unverified(secret)
