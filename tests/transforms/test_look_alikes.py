"""Other spellings of what a request's edits remove or set."""

import sys

import pytest

from engine.transforms.look_alikes import other_members, other_names
from engine.transforms.places import parse_place


@pytest.mark.parametrize(
    ("place", "value", "paths"),
    [
        ("n", {"n": 1, "N": 2, "m": 3}, [("N",)]),
        ("stop", {"\u017ftop": 1}, [("\u017ftop",)]),
        (
            "max_tokens",
            {"maxTokens": 1, "max-tokens": 2, "max": 3},
            [("maxTokens",), ("max-tokens",)],
        ),
        ("topK", {"top_k": 1}, [("top_k",)]),
        ("/a/b", {"a": {"b": 1, "B": 2}, "A": {"b": 3}}, [("a", "B"), ("A", "b")]),
        ("/a/0/b", {"a": [{"B": 1}, {"B": 2}]}, [("a", 0, "B")]),
        ("/a/0", {"a": [1], "A": [2]}, [("A", 0)]),
        ("/a/x", {"a": [1]}, []),
        ("n", [1], []),
        ("$..n", {"N": 1}, []),
    ],
)
def test_members_that_differ_in_case_and_separators_alone_are_found(place, value, paths):
    assert other_members(value, parse_place(place)) == paths


def test_names_that_lenient_readers_take_for_an_edited_one_are_found():
    names = ["key", "Key", "key[0]", "keys", "KEY%00x", "n"]
    assert other_names(names, {"key", "x"}) == {"Key", "key[0]", "KEY%00x"}
    assert other_names(["Key", "key"], {"Key", "key"}) == frozenset()


def test_large_names_are_compared_and_not_kept():
    name = "N[" + "x" * 1_000_000
    references = sys.getrefcount(name)
    assert other_names([name], {"n"}) == {name}
    assert sys.getrefcount(name) == references
