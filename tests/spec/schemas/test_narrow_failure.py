"""A small part of a large value that is refused for the same reason."""

from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.schemas.narrow_failure import FEW_ITEMS, MAX_ITEMS, narrow
from engine.spec.schemas.refusal_messages import explain
from tests.support.each import each


class Judge:
    """Refuses arrays with a wrong item; remembers the longest array it was shown."""

    def __init__(self) -> None:
        self.longest = 0

    def __call__(self, value: Any) -> bool:
        items = value["items"]
        self.longest = max(self.longest, len(items))
        return "wrong" not in items


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_wrong_item_is_in_the_part_and_keeps_its_place(before: int, after: int) -> None:
    judge = Judge()
    value = {"a": 1, "items": [*["good"] * before, "wrong", *["good"] * after]}
    narrowed = narrow(judge, value)
    assert narrowed is not None
    at = narrowed.value["items"].index("wrong")
    assert narrowed.original_path(["items", at, "x"]) == ["items", before, "x"]
    assert judge.longest <= MAX_ITEMS


def test_a_path_beside_the_array_stays() -> None:
    narrowed = narrow(Judge(), {"items": ["good"] * 500 + ["wrong"]})
    assert narrowed is not None
    assert narrowed.original_path(["other", 3]) == ["other", 3]


def test_a_small_value_is_its_own_part() -> None:
    narrowed = narrow(lambda value: False, {"items": ["wrong"]})
    assert narrowed is not None
    assert (narrowed.value, narrowed.path, narrowed.offset) == ({"items": ["wrong"]}, (), 0)


def test_a_failure_of_the_entire_array_is_not_narrowed() -> None:
    assert narrow(lambda value: len(value) <= 300, ["x"] * 301) is None


class Listing:
    """Lists errors by a schema; remembers how many it has listed."""

    def __init__(self, schema: Any) -> None:
        self._compiled = jsonschema_rs.Draft202012Validator(schema)
        self.is_valid = self._compiled.is_valid
        self.count = 0

    def iter_errors(self, value: Any) -> list[Any]:
        errors = list(self._compiled.iter_errors(value))
        self.count += len(errors)
        return errors


def _explained(listing: Listing, value: Any) -> str:
    return explain(listing, value).message.removeprefix("Invalid ")


def test_few_of_many_wrong_items_are_listed() -> None:
    listing = Listing({"items": {"items": {"type": "integer"}}})
    assert "'[0][0]'" in _explained(listing, [["x"] * 100] * 100)
    assert listing.count <= FEW_ITEMS**2
    some = [[1] * 50] * 50 + [[1] * 50 + ["x"]] * 50
    assert "'[50][50]'" in _explained(listing, some)


@each(
    "schema, value, message",
    [
        ({"minItems": 7}, [[1] * 6, *[[1] * 7] * 9], "'[0]': expected at least 7 items"),
        ({"const": [1] * 7}, [[1] * 7] * 9 + [[1]], "'[9]': expected"),
        (
            {"contains": {"const": 2}},
            [[1] * 9 + [2]] * 9 + [[1]],
            "'[9]': expected an item that matches",
        ),
        (
            {"anyOf": [{"minItems": 7}, {"type": "string"}]},
            [[1] * 7] * 9 + [[1]],
            "'[9]': expected at least 7 items",
        ),
        (
            {"uniqueItems": True, "items": {"items": {"type": "integer"}}},
            [[[1, 1, 1, 2], [1, 1, 1, 3]]] * 9 + [[["x"]]],
            "'[9][0][0]'",
        ),
        (
            {"oneOf": [{"items": {"type": "integer"}}, {"items": {"minimum": 1}}]},
            [[1, 1, 1, 0]] * 9 + [[0.5]],
            "'[9]",
        ),
        (
            {"if": {"contains": {"const": 2}}, "else": {"maxItems": 0}},
            [[1] * 9 + [2]] * 9 + [[1]],
            "'[9]'",
        ),
        (
            {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}, "maxItems": 5},
            [[1, "x", "x", "x", "x", "x"]],
            "'[0]': expected at most 5 items",
        ),
        ({"unevaluatedItems": {"minItems": 4}}, [[[1] * 4]] * 9 + [[[1]]], "'[9]"),
    ],
)
def test_an_array_of_which_few_items_are_left_is_not_at_fault(
    schema: Any, value: Any, message: str
) -> None:
    assert message in _explained(Listing({"items": schema}), value)
