"""A small part of a large value that is refused for the same reason."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.spec.narrow_failure import MAX_ITEMS, narrow


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
