"""Names with `*` in them."""

import pytest

from engine.values.wildcard import Patterns, matches, shared_patterns, star_text

EVERY_KIND = pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4*", True),
        ("gpt-4", "gpt-4*", True),
        ("gpt-5", "gpt-4*", False),
        ("a/b:c", "*:c", True),
        ("abc", "a*b*c", True),
        ("acb", "a*b*c", False),
        ("m[1]", "m[1]", True),
        ("m1", "m[1]", False),
        ("gpt-4o", "gpt-4?", False),
        ("a\nb", "a*", True),
        ("anything", "*", True),
        ("", "*", True),
        ("ab", "a**", True),
    ],
)


@EVERY_KIND
def test_only_the_star_is_special(name, pattern, expected):
    assert matches(name, pattern) is expected


@EVERY_KIND
def test_a_set_covers_what_one_of_its_patterns_covers(name, pattern, expected):
    assert Patterns([pattern]).match(name) is expected
    assert Patterns(["x*", "*:x", "x", pattern]).match(name) is expected


def test_no_name_makes_it_go_back_and_forth():
    """With several stars and a name of a megabyte this is done at once, or the timeout ends it."""
    assert not matches("fam/" + "a/" * 500_000, "fam/*/*/*:free")


@pytest.mark.parametrize(
    ("name", "pattern", "text"),
    [
        ("groq/llama", "groq/*", "llama"),
        ("a:free", "*:free", "a"),
        ("a-b-c", "a-*-c", "b"),
        ("groq/", "groq/*", ""),
        ("x", "*", "x"),
    ],
)
def test_the_text_that_a_star_stands_for(name, pattern, text):
    assert star_text(name, pattern) == text


def test_sets_of_equal_patterns_are_equal():
    assert {Patterns(["a", "b*"]): 1}[Patterns(["b*", "a"])]
    assert Patterns(["a"]) != Patterns(["a*"]) != Patterns(["*a"])
    assert Patterns(["a"]) != "a"


def test_equal_patterns_share_a_set():
    assert shared_patterns(("a", "b*")) is shared_patterns(("a", "b*"))
    assert shared_patterns(("a", "b*")).match("bc")
    assert not shared_patterns(()).match("bc")
