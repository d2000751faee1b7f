import base64
from collections.abc import Callable

import pytest

from engine.callers.jwt.compact_form import has_form, parse, unverified
from engine.callers.jwt.refusal import TokenRefused
from tests.support.each import each
from tests.support.signed_tokens import claims, token


def test_a_token_is_known_by_its_form():
    assert has_form(token())


@pytest.mark.parametrize(
    "secret", ["", "mw-0", "eyJ", "eyJa.b", "eyJa.b.", "eyJa.b.c.d", "eyJa.b.c ", "xeyJa.b.c"]
)
def test_another_secret_is_none(secret):
    assert not has_form(secret)


def test_a_token_is_read():
    secret = token()
    head, signature = secret.rsplit(".", 1)
    read = parse(secret)
    assert (read.header["kid"], read.claims, read.signed) == ("ec", claims(), head.encode())
    assert base64.urlsafe_b64decode(signature + "==") == read.signature


def another(part: str, change: Callable[[str], str]) -> str:
    parts = dict(zip(("header", "claims", "signature"), token().split("."), strict=True))
    return ".".join({**parts, part: change(parts[part])}.values())


@each("part", ["header", "claims", "signature"])
def test_a_part_has_one_form(part):
    changes = (
        lambda text: text + "=" * (-len(text) % 4 or 4),
        lambda text: text + "\n",
        lambda text: f" {text}",
        lambda text: text + "A" * ((1 - len(text)) % 4),
        lambda text: text + "é",
        lambda text: text + "\udcff",
        lambda text: text[:4] + "/" + text[5:],
    )
    parse(another(part, str))
    for change in changes:
        with pytest.raises(TokenRefused, match="not a valid"):
            parse(another(part, change))


@pytest.mark.parametrize(("text", "odd"), [("e30", "e31"), ("e30", "e32"), ("e30", "e33")])
def test_bits_after_the_last_byte_are_refused(text, odd):
    assert parse(f"{text}.{text}.{text}").header == {}
    with pytest.raises(TokenRefused, match="not a valid"):
        parse(f"{text}.{text}.{odd}")


def test_its_header_and_claims_are_read():
    header, read = unverified(token())
    assert (header["kid"], read) == ("ec", claims())


@pytest.mark.parametrize("secret", ["", "eyJ", "eyJ.eyJ.eyJ", "W10.W10.x", "e30.W10.x", "a.b.c"])
def test_what_has_no_claims_is_refused(secret):
    with pytest.raises(TokenRefused, match="not a valid"):
        unverified(secret)
