"""Field names with brackets."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.parameters.bracket_names import MAX_DEPTH, split_name, tree_of
from engine.values.errors import Malformed
from tests.support.each import each
from tests.support.loop_turns import loop_turns


def test_a_name_is_its_root_and_its_brackets() -> None:
    assert split_name("a[b][]") == ("a", "[b][]")
    assert split_name("plain") == ("plain", "")


@each(
    ("fields", "tree"),
    [
        ([("[]", "1"), ("[]", "2")], {"": ["1", "2"]}),
        ([("[a]", "1"), ("[a]", "2")], {"a": ["1", "2"]}),
        ([("[a][b]", "1"), ("[a][c]", "2")], {"a": {"b": ["1"], "c": ["2"]}}),
        (
            [("[][a]", "1"), ("[][b]", "2"), ("[][a]", "3")],
            {"": [{"a": ["1"], "b": ["2"]}, {"a": ["3"]}]},
        ),
        ([("[][a][]", "1"), ("[][a][]", "2")], {"": [{"a": {"": ["1", "2"]}}]}),
    ],
)
def test_every_leaf_has_its_place_in_the_tree(fields: list[Any], tree: Any) -> None:
    assert tree_of(fields, "f") == tree


@each(
    ("fields", "message"),
    [
        ([("[a", "1")], "unbalanced brackets: [a"),
        ([("[a]b", "1")], "unbalanced brackets: [a]b"),
        ([("[a]", "1"), ("[a][b]", "2")], "[a] is given both as a value and with brackets"),
        ([("[a][b]", "1"), ("[a]", "2")], "[a] is given both as a value and with brackets"),
        ([("[__proto__]", "1")], "the name '__proto__' is not allowed"),
        ([("[x]" * (MAX_DEPTH + 1), "1")], f"nested more than {MAX_DEPTH} deep"),
    ],
)
def test_a_name_that_readers_understand_differently_is_refused(
    fields: list[Any], message: str
) -> None:
    with pytest.raises(Malformed) as excinfo:
        tree_of(fields, "f")
    assert str(excinfo.value) == f"f: {message}"


def test_the_loop_turns_between_names() -> None:
    assert loop_turns(lambda: tree_of([("[][a]", "1")] * 20, "f")) > 10
