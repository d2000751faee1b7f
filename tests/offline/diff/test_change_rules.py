"""The rules by which a change of one value is judged and worded."""

from operator import eq

import pytest

from engine.offline.diff import change_rules
from engine.offline.diff.difference import Effect

WEAKER, CHANGED = Effect.WEAKER, Effect.CHANGED
CASES = [
    (change_rules.higher_weakens(), 1, 2, WEAKER),
    (change_rules.higher_weakens(), 2, 1, CHANGED),
    (change_rules.higher_weakens(), 1, None, WEAKER),
    (change_rules.higher_weakens(), None, 1, CHANGED),
    (change_rules.lower_weakens(), 2, 1, WEAKER),
    (change_rules.lower_weakens(), None, 1, WEAKER),
    (change_rules.lower_weakens(), 1, None, CHANGED),
    (change_rules.weaker_towards("strict", "lenient", ...), "strict", "lenient", WEAKER),
    (change_rules.weaker_towards("strict", "lenient", ...), "lenient", "strict", CHANGED),
    (change_rules.weaker_towards("strict", "lenient", ...), "lenient", "anything", WEAKER),
    (change_rules.removing_weakens(), "a", None, WEAKER),
    (change_rules.removing_weakens(), None, "a", CHANGED),
    (change_rules.gaining_weakens(eq), ["a"], ["a", "b"], WEAKER),
    (change_rules.gaining_weakens(eq), ["a", "b"], ["a"], CHANGED),
    (change_rules.losing_weakens(), ["a", "b"], ["a"], WEAKER),
    (change_rules.losing_weakens(), ["a"], ["a", "b"], CHANGED),
    (change_rules.losing_weakens(also=["x"]), [], ["x"], WEAKER),
    (change_rules.plainer_weakens(), "https://a", "http://a", WEAKER),
    (change_rules.plainer_weakens(), "http://a", "https://a", CHANGED),
    (change_rules.reached_by_more_weakens(), "off", "127.0.0.1:1", WEAKER),
    (change_rules.reached_by_more_weakens(), "unix:/run/a", "localhost:1", WEAKER),
    (change_rules.reached_by_more_weakens(), "[::1]:1", "[::]:1", WEAKER),
    (change_rules.reached_by_more_weakens(), "0.0.0.0:1", "127.0.0.1:1", CHANGED),
    (change_rules.reached_by_more_weakens(), "0.0.0.0:1", "example.com:1", CHANGED),
    (change_rules.always_weakens(), 1, 2, WEAKER),
    (change_rules.CHANGES, 1, 2, CHANGED),
]


@pytest.mark.parametrize(("rule", "old", "new", "effect"), CASES)
def test_the_level_of_a_change(rule, old, new, effect):
    assert rule.level(old, new) is effect


@pytest.mark.parametrize("rule", [change_rules.NEUTRAL, change_rules.compared_by("models")])
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
    assert change_rules.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(25 * 10**6, "25MB"), (1024**3, "1GiB"), (1500, "1500B"), (3 * 10**9, "3GB"), (0, "0B")],
)
def test_sizes_have_their_largest_whole_unit(value, text):
    assert change_rules.size(value) == text


def test_a_change_is_worded_by_its_key_and_both_values():
    assert change_rules.CHANGES.message("timeout", 1, 2) == "timeout is 2, was 1"


def test_the_word_for_no_value_can_be_chosen():
    rule = change_rules.CHANGES.worded(absent="no bound")
    assert rule.message("limit", 5, None) == "limit is no bound, was 5"


@pytest.mark.parametrize(
    ("new", "message"), [(None, "gone"), ("off", "switched off"), ("on", "a to on")]
)
def test_a_sentence_for_a_value_replaces_the_usual_one(new, message):
    rule = change_rules.CHANGES.worded(
        sentences={"null": "gone", "off": "switched off", "*": "{old} to {new}"}
    )
    assert rule.message("key", "a", new) == message
