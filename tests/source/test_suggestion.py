"""The near name out of very many."""

import time

import pytest

from engine.source.suggestion import Suggestions

MANY = [f"vendor-{n % 7}/model-{n:05}-instruct" for n in range(10_000)]
NAMES = [*MANY, "gpt-4o", "gpt-4o-mini", "Claude-Sonnet", "text-embedding-3-small", "o1", "ab"]


def near(name, usable=lambda one: True, names=NAMES):
    return Suggestions(names).near(name, usable)


@pytest.mark.parametrize(
    ("name", "meant"),
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
def test_the_near_name_is_found_among_many(name, meant):
    assert near(name) == meant


def test_only_usable_names_are_suggested():
    assert near("gpt-4", lambda one: one != "gpt-4o") == "gpt-4o-mini"
    assert near("gpt-4", lambda one: False) is None
    assert near("gpt-4", names=[]) is None


def test_few_names_are_looked_at_however_many_there_are():
    looked_at = []
    near("vendor-3/model", lambda one: not looked_at.append(one))
    assert len(looked_at) <= 120


def test_a_suggestion_costs_about_as_much_among_many_names_as_among_few():
    def cost(names):
        suggestions = Suggestions(names)
        suggestions.near("warm", bool)
        begun = time.process_time()
        for n in range(50):
            suggestions.near(f"vendor-3/modle-{n:05}-instruct", bool)
        return time.process_time() - begun

    assert cost(MANY) < 5 * cost(MANY[:500])
