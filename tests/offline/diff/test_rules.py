"""The rules by which a change of one value is judged and worded."""

from operator import eq

import pytest

from engine.offline.diff import rules
from engine.offline.diff.difference import Effect

WEAKER, CHANGED = Effect.WEAKER, Effect.CHANGED
CASES = [
    (rules.higher_weakens(), 1, 2, WEAKER),
    (rules.higher_weakens(), 2, 1, CHANGED),
    (rules.higher_weakens(), 1, None, WEAKER),
    (rules.higher_weakens(), None, 1, CHANGED),
    (rules.lower_weakens(), 2, 1, WEAKER),
    (rules.lower_weakens(), None, 1, WEAKER),
    (rules.lower_weakens(), 1, None, CHANGED),
    (rules.weaker_towards("strict", "lenient", ...), "strict", "lenient", WEAKER),
    (rules.weaker_towards("strict", "lenient", ...), "lenient", "strict", CHANGED),
    (rules.weaker_towards("strict", "lenient", ...), "lenient", "anything", WEAKER),
    (rules.removing_weakens(), "a", None, WEAKER),
    (rules.removing_weakens(), None, "a", CHANGED),
    (rules.gaining_weakens(eq), ["a"], ["a", "b"], WEAKER),
    (rules.gaining_weakens(eq), ["a", "b"], ["a"], CHANGED),
    (rules.losing_weakens(), ["a", "b"], ["a"], WEAKER),
    (rules.losing_weakens(), ["a"], ["a", "b"], CHANGED),
    (rules.losing_weakens(also=["x"]), [], ["x"], WEAKER),
    (rules.plainer_weakens(), "https://a", "http://a", WEAKER),
    (rules.plainer_weakens(), "http://a", "https://a", CHANGED),
    (rules.reached_by_more_weakens(), "off", "127.0.0.1:1", WEAKER),
    (rules.reached_by_more_weakens(), "unix:/run/a", "localhost:1", WEAKER),
    (rules.reached_by_more_weakens(), "[::1]:1", "[::]:1", WEAKER),
    (rules.reached_by_more_weakens(), "0.0.0.0:1", "127.0.0.1:1", CHANGED),
    (rules.reached_by_more_weakens(), "0.0.0.0:1", "example.com:1", CHANGED),
    (rules.always_weakens(), 1, 2, WEAKER),
    (rules.CHANGES, 1, 2, CHANGED),
]


@pytest.mark.parametrize(("rule", "old", "new", "effect"), CASES)
def test_the_level_of_a_change(rule, old, new, effect):
    assert rule.level(old, new) is effect


@pytest.mark.parametrize("rule", [rules.NEUTRAL, rules.compared_by("models")])
def test_some_values_have_no_level_of_their_own(rule):
    assert rule.level is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (0.5, "0.5"),
        (30.0, "30"),
        (("b", "a"), "b, a"),
        ({"b", "a"}, "a, b"),
        ([], "none"),
        (None, "none"),
        ("", "none"),
        ("text", "text"),
    ],
)
def test_values_are_written_as_in_the_config(value, text):
    assert rules.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(25 * 10**6, "25MB"), (1024**3, "1GiB"), (1500, "1500B"), (3 * 10**9, "3GB"), (0, "0B")],
)
def test_sizes_have_their_largest_whole_unit(value, text):
    assert rules.size(value) == text


def test_a_change_is_worded_by_its_key_and_both_values():
    assert rules.CHANGES.words("timeout", 1, 2) == "timeout is 2, was 1"


def test_the_word_for_no_value_can_be_chosen():
    rule = rules.CHANGES.worded(absent="no bound")
    assert rule.words("limit", 5, None) == "limit is no bound, was 5"


@pytest.mark.parametrize(
    ("new", "words"), [(None, "gone"), ("off", "switched off"), ("on", "a to on")]
)
def test_a_sentence_for_a_value_replaces_the_usual_one(new, words):
    rule = rules.CHANGES.worded(
        sentences={"null": "gone", "off": "switched off", "*": "{old} to {new}"}
    )
    assert rule.words("key", "a", new) == words
