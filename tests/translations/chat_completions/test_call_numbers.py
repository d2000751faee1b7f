"""Which call of an answer a fragment of a call belongs to."""

from __future__ import annotations

from engine.translations.chat_completions.call_numbers import CallNumbers
from tests.support.each import each

Fragment = tuple[int | None, str, str]
"""Its index, id and name."""


@each(
    ("fragments", "numbers"),
    [
        ([(0, "a", "f"), (0, "", ""), (1, "b", "g"), (1, "", ""), (0, "", "")], [0, 0, 1, 1, 0]),
        ([(5, "a", "f"), (9, "b", "g"), (5, "", "")], [0, 1, 0]),  # indexes of items
        ([(0, "a", "f"), (0, "b", "g"), (0, "", "")], [0, 1, 1]),  # one index for all
        ([(0, "a", "f"), (0, "a", "f")], [0, 0]),  # id and name in each fragment
        ([(0, "", "f"), (0, "", "")], [0, 0]),
        ([(None, "", "f"), (None, "", ""), (None, "", "g"), (None, "", "")], [0, 0, 1, 1]),
        ([(None, "a", "f"), (None, "a", ""), (None, "b", "f")], [0, 0, 1]),
        ([(0, "a", "f"), (1, "a", "g")], [0, 1]),  # one id for all
    ],
)
def test_numbers(fragments: list[Fragment], numbers: list[int]) -> None:
    calls = CallNumbers()
    assert [calls.number(*fragment) for fragment in fragments] == numbers
    assert calls.count == max(numbers) + 1
