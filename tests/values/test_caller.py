"""Tokens: secrets, digests, and what a caller may use."""

import hashlib

import pytest

from engine.values.caller import Caller, digest, new_secret


def test_a_secret_is_long_prefixed_and_never_the_same():
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(s.startswith("mw-") and len(s) == 3 + 64 and s.isascii() for s in secrets)


def test_a_digest_is_sha256_in_lower_case_hexadecimal():
    assert digest("mw-abc") == hashlib.sha256(b"mw-abc").hexdigest()


@pytest.mark.parametrize("secret", ["", "é", "\udcff", "x" * 1_000_000, "\0"])
def test_any_text_a_caller_may_send_has_a_digest(secret):
    assert len(digest(secret)) == 64


def test_without_a_list_every_model_may_be_used():
    assert Caller("a").may_use("anything")


def test_an_empty_list_allows_no_model():
    assert not Caller("a", ()).may_use("gpt-4o")


@pytest.mark.parametrize(
    ("pattern", "model", "may"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o*", "gpt-4o-mini", True),
        ("gpt-4o*", "gpt-4", False),
        ("*", "org/name:free", True),
        ("org/*", "org/name:free", True),
        ("*:free", "org/name:free", True),
        ("GPT-4o", "gpt-4o", False),
        ("", "gpt-4o", False),
    ],
)
def test_a_name_or_wildcard_allows_what_it_matches(pattern, model, may):
    assert Caller("a", (pattern,)).may_use(model) is may


@pytest.mark.parametrize(
    ("pattern", "model", "may"),
    [("gpt-4?", "gpt-4o", False), ("m[12]", "m1", False), ("m[12]", "m[12]", True)],
)
def test_only_the_star_is_a_wildcard(pattern, model, may):
    assert Caller("a", (pattern,)).may_use(model) is may
