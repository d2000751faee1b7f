"""Examples on the reference page: fills the mock's placeholders with fixed values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_VALUES: dict[str, str | int] = {
    "text": "Air scatters blue light more than red.",
    "word": "Air scatters blue light more than red.",
    "model": "the-model",
    "id": "4f1c9a70d2e84b3f",
    "now": 1_767_225_600,
    "input_tokens": 24,
    "output_tokens": 9,
    "total_tokens": 33,
}
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_MOCK_CONDITION = re.compile(r"^: if \w+\n", re.MULTILINE)


def fill_example(example: object) -> object:
    """An example with its placeholders filled in. `{{n}}` counts from 0; unknown ones remain."""
    return _filled(example, itertools.count())


def _filled(value: object, numbers: Iterator[int]) -> object:
    if isinstance(value, dict):
        return {key: _filled(item, numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, numbers) for item in value]
    if not isinstance(value, str):
        return value
    match = _PLACEHOLDER.fullmatch(value)
    if match:
        return _value(match, numbers)
    return _PLACEHOLDER.sub(
        lambda match: str(_value(match, numbers)), _MOCK_CONDITION.sub("", value)
    )


def _value(match: re.Match[str], numbers: Iterator[int]) -> str | int:
    return next(numbers) if match[1] == "n" else _VALUES.get(match[1], match[0])
