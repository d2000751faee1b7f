"""Tokens as values and as JSON."""

import math

import pytest

from engine.credentials.access_tokens.token import CredentialUnavailable, Token


@pytest.mark.parametrize("expires", [150.5, math.inf])
def test_a_token_survives_a_round_trip(expires: float) -> None:
    token = Token({"token": "é"}, 100.0, expires)
    assert Token.load(token.dump()) == token


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"values": 1, "fetched": 1, "expires": 1}'])
def test_other_json_is_no_token(data: bytes) -> None:
    with pytest.raises(ValueError):
        Token.load(data)


def test_a_share_of_its_life_is_counted_from_the_fetch() -> None:
    assert Token({}, 1000, 2000).renew_at(0.8) == 1800


def test_a_token_without_an_end_is_renewed_after_an_hour() -> None:
    assert Token({}, 1000).renew_at(0.8) == pytest.approx(4600)


def test_it_does_not_show_itself() -> None:
    assert "secret-1" not in repr(Token({"token": "secret-1"}, 0))


def test_a_failure_names_its_detail_where_it_has_one() -> None:
    assert str(CredentialUnavailable("no", "file")) == "no: file"
    assert str(CredentialUnavailable("no")) == "no"
