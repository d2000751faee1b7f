"""The near name out of few or very many."""

import pytest

from engine.source.suggestion import (
    Suggestions,
    did_you_mean,
    distance,
    invisible,
    near,
    without_invisible,
)
from tests.support.each import each
from tests.support.growth import steps

MANY = [f"vendor-{n % 7}/model-{n:05}-instruct" for n in range(10_000)]
NAMES = [*MANY, "gpt-4o", "gpt-4o-mini", "Claude-Sonnet", "text-embedding-3-small", "o1", "ab"]


def nearest(name, usable=lambda candidate: True, names=NAMES):
    return Suggestions(names).near(name, usable)


@each(
    ("name", "correct"),
    [
        ("gpt-4", "gpt-4o"),
        ("gtp-4o", "gpt-4o"),
        ("pt-4o-mini", "gpt-4o-mini"),
        ("gpt-4o-mni", "gpt-4o-mini"),
        ("claude-sonet", "Claude-Sonnet"),
        ("CLAUDE-SONNET", "Claude-Sonnet"),
        ("text-embeding-3-small", "text-embedding-3-small"),
        ("vendor-3/modle-00045-instruct", "vendor-3/model-00045-instruct"),
        ("vendor-3/model-00045-instrcut", "vendor-3/model-00045-instruct"),
        ("vendor-3model-00045-instruct", "vendor-3/model-00045-instruct"),
        ("ba", "ab"),
        ("nothing like it", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_the_near_name_is_found_among_many(name, correct):
    assert nearest(name) == correct


def test_only_usable_names_are_suggested():
    assert nearest("gpt-4o-min", lambda candidate: candidate != "gpt-4o-mini") is None
    assert nearest("gpt-4", lambda candidate: candidate != "gpt-4o") is None
    assert nearest("gpt-4", lambda candidate: False) is None
    assert nearest("gpt-4", names=[]) is None


def test_few_names_are_looked_at_however_many_there_are():
    looked_at = []
    nearest("vendor-3/model", lambda candidate: not looked_at.append(candidate))
    assert len(looked_at) <= 120


def test_a_hint_among_many_names_is_that_among_few():
    assert Suggestions(NAMES).hint("gtp-4o") == "did you mean 'gpt-4o'?"
    few = ["b", "a", *"cdefghijkl"]
    assert Suggestions(few).hint("nothing like it") == did_you_mean("nothing like it", few)
    assert Suggestions(["gpt-4o"]).hint("gpt-4o\u200b") == did_you_mean("gpt-4o\u200b", ["gpt-4o"])


def test_a_suggestion_costs_about_as_much_among_many_names_as_among_few():
    def cost(names):
        suggestions = Suggestions(names)
        suggestions.near("warm", bool)
        wrong = [f"vendor-3/modle-{n:05}-instruct" for n in range(50)]
        return steps(lambda: [suggestions.near(name, bool) for name in wrong])

    assert cost(MANY) < 1.5 * cost(MANY[:500])


@each(
    ("name", "correct"),
    [
        ("upstrem", "upstream"),
        ("Upstream", "upstream"),
        ("upstraem", "upstream"),
        ("mdoel", "model"),
        ("zzz", None),
        ("", None),
        (7, None),
    ],
)
def test_the_near_name_is_found(name, correct):
    assert near(name, ["upstream", "model", "policies"]) == correct


@each(
    ("name", "correct"),
    [("ot", "to"), ("UPSTREAM", "upstream"), ("PER", "per"), ("_max-body", "max_body")],
)
def test_the_near_name_is_found_for_short_names_other_case_and_swapped_letters(name, correct):
    assert near(name, ["to", "per", "upstream", "max_body", "weight"]) == correct


def test_a_hint_names_the_near_name_or_those_there_are():
    assert did_you_mean("modle", ["model", "to"]) == "did you mean 'model'?"
    assert did_you_mean("zzz", ["b", "a"]) == "known: a, b"
    assert did_you_mean("zzz", ["b", "a"], "look it up") == "look it up"
    assert did_you_mean("zzz", []) == ""


def test_a_hint_lists_eight_names_at_most():
    names = [f"name{number}" for number in range(9)]
    assert did_you_mean("zzz", names) == f"known: {', '.join(names[:8])}, ..."


@each(
    ("name", "names"),
    [
        ("nope", ["openai", "poe", "jina"]),
        ("gpt-4", ["gpt-4o-mini"]),
        ("VLLM_API_KEY", ["OPENAI_API_KEY"]),
        ("abcdef", ["abcxyz"]),
        ("ab", ["cb", "axx"]),
        ("abcde", ["abcxy"]),
    ],
)
def test_a_name_with_more_than_a_third_of_wrong_letters_is_not_suggested(name, names):
    assert near(name, names) is None


def test_the_name_with_the_fewest_wrong_letters_is_suggested():
    assert near("abcdefghi", ["abcdefxyz", "abcdefgh", "abcdefghxy"]) == "abcdefgh"


@each(
    ("word", "target", "edits"),
    [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "ab", 1),
        ("abc", "abcd", 1),
        ("abc", "axc", 1),
        ("abcd", "abdc", 1),
        ("ca", "abc", 3),
        ("kitten", "sitting", 3),
        ("", "abc", 3),
    ],
)
def test_the_distance_counts_single_mistakes(word, target, edits):
    assert distance(word, target) == distance(target, word) == edits
    assert distance(word, target, edits) == edits
    if edits:
        assert distance(word, target, edits - 1) == edits  # more than that


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("workers", ""),
        ("two words", ""),
        ("a\u00a0b", "a no-break space (U+00A0)"),
        ("\u200bmodels", "a zero-width space (U+200B)"),
        ("\ufeffversion", "a byte order mark (U+FEFF)"),
    ],
)
def test_the_first_invisible_character_is_named(text, name):
    assert invisible(text) == name


def test_a_text_without_them_has_no_blanks_at_its_ends_either():
    assert without_invisible(" \u00a0orders\u200b ") == "orders"


def test_a_name_that_differs_by_one_is_suggested_with_the_reason():
    hint = did_you_mean("orders\u00a0", ["orders", "order"])
    assert hint == "it has a no-break space (U+00A0); write 'orders'"
