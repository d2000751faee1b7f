"""Parameters of chat in a config of another gateway, as edits of a model: they fit each operation.
On the side of the upstream they would break other operations of the same model, such as the
counting of tokens."""

from __future__ import annotations

from collections.abc import Mapping

PLACES: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "max_tokens": ("max_tokens", "max_output_tokens"),
}
"""Where the operations of chat have a parameter; an edit without a place in one leaves it alone.
Gemini's are members of an object, which an edit would make in every operation."""


def fits(key: str, number: float | None) -> bool:
    """Whether every format of chat takes this value of a parameter."""
    if number is None:
        return False
    return number >= 1 and number % 1 == 0 if key == "max_tokens" else 0 <= number <= 1


def number_of(value: object) -> float | None:
    """A number, or a string that contains one; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
