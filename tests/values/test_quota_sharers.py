"""What requests share a quota, and the names under which they count."""

import pytest

from engine.values.quota_sharers import (
    NOBODY,
    OTHERS,
    Sharer,
    Sharing,
    bounded,
    read_sharing,
    shared_by,
)


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("token", "token"),
        ("all", "all"),
        (["team", "model"], "team+model"),
        ({"header": "X-Customer", "trusted": ["a"]}, "header:x-customer"),
        (["token", {"body": "/metadata/user"}], "token+body:/metadata/user"),
        ({"claim": "groups[0]"}, "claim:groups[0]"),
    ],
)
def test_its_text_is_what_it_counts_by(by, text):
    assert str(read_sharing({"by": by})) == text


def test_without_a_word_each_token_has_its_own_count():
    assert read_sharing({}) == shared_by("token")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": ["token", "token"]}, "twice"),
        ({"by": {"header": "x"}}, "trusted"),
        ({"by": {"header": "x", "body": "/y", "trusted": ["a"]}}, "one of header, claim and body"),
        ({"by": {"trusted": ["a"]}}, "one of header, claim and body"),
        ({"by": {"claim": "a..b"}}, "not the place of a claim"),
        ({"by": {"claim": "a", "trusted": ["b"]}}, "verified"),
        ({"by": "token", "missing": "refuse"}, "missing"),
    ],
)
def test_what_a_schema_cannot_express_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        read_sharing(options)


@pytest.mark.parametrize(
    ("by", "later"), [("token", False), ("model", True), ("team", False), ("upstream", True)]
)
def test_the_model_decides_who_shares_some(by, later):
    assert shared_by(by).depends_on_model is later


def test_a_member_of_the_body_is_not_in_the_head():
    assert Sharing((Sharer("token"), Sharer("body", "/user"))).depends_on_model
    assert not Sharing((Sharer("header", "x"), Sharer("claim", "y"))).depends_on_model


def test_a_short_printable_name_is_itself():
    assert bounded("acme corp.") == "acme corp."
    assert bounded("x" * 64) == "x" * 64
    assert bounded("") == NOBODY


@pytest.mark.parametrize(
    "text", ["x" * 65, "a|b", NOBODY, OTHERS, "\xe9", "\ud800", "a\nb", " a", "#" + "0" * 32]
)
def test_any_other_name_is_a_hash_that_no_other_text_has(text):
    name = bounded(text)
    assert (name[0], len(name)) == ("#", 33)
    assert "|" not in name
    assert name not in (text, NOBODY, OTHERS, bounded(text + "x"))


def test_a_place_is_the_same_with_the_same_callers_only():
    assert Sharer("header", "x", ("a",)) != Sharer("header", "x", ("b",))
