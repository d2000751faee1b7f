"""Tokens: secrets, digests, and what a caller may use."""

import hashlib
import operator
import pickle

import pytest
from msgspec.structs import replace

from engine.values.caller import Caller, Team, digest, new_secret
from engine.values.quota import Quota


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


def test_a_changed_caller_may_do_what_the_changes_say():
    team = Team("lab", models=("small*",), operations=("api.*",), limits=(Quota("requests", 1),))
    caller = Caller("a", ("small",), operations=("*",), regions=("eu",))
    assert (caller.may_use("small"), caller.is_limited) == (True, False)
    member = replace(caller, models=("large", "small-2"), teams=(team,))
    assert [member.may_use(name) for name in ("large", "small", "small-2")] == [False, False, True]
    assert (member.may_call("api.x"), member.may_call("b.x"), member.is_limited) == (
        True,
        False,
        True,
    )
    assert member.model_lists == (("large", "small-2"), ("small*",))
    assert (member.region_lists, member.operation_lists) == ((("eu",),), (("*",), ("api.*",)))


def test_callers_are_equal_whatever_their_claims_are():
    assert Caller("a", claims={"x": "1"}) == Caller("a", claims={"x": "2"})
    assert not operator.ne(Caller("a", claims={"x": "1"}), Caller("a"))
    assert hash(Caller("a", claims={"x": "1"})) == hash(Caller("a"))
    for change in ({"name": "b"}, {"models": ()}, {"regions": ("eu",)}, {"expires": 1.0}):
        assert replace(Caller("a"), **change) != Caller("a")


def test_another_process_gets_all_of_a_caller():
    caller = Caller("a", ("m*",), 5.0, (), ("::1",), (), "t", "low", (), {"x": "1"}, ("eu",))
    copy = pickle.loads(pickle.dumps(caller))
    assert (copy, copy.claims, copy.regions) == (caller, {"x": "1"}, ("eu",))
    assert copy.permissions is caller.permissions
