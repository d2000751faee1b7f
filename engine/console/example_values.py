"""Examples as readers see them: what the mock puts in at each answer is filled in here once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

_FACTS: dict[str, str | int] = {
    "text": "Air scatters blue light more than red.",
    "word": "Air scatters blue light more than red.",
    "model": "the-model",
    "id": "4f1c9a70d2e84b3f",
    "now": 1_767_225_600,
    "input_tokens": 24,
    "output_tokens": 9,
    "total_tokens": 33,
}
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_ONLY_FOR_THE_MOCK = re.compile(r"^: if \w+\n", re.MULTILINE)


def filled(example: Any) -> Any:
    """An example without placeholders; `{{n}}` counts from 0. What is not known stays."""
    return _filled(example, itertools.count())


def _filled(value: Any, numbers: Iterator[int]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, numbers) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, numbers) for one in value]
    if not isinstance(value, str):
        return value
    whole = _PLACE.fullmatch(value)
    if whole:
        return _fact(whole, numbers)
    return _PLACE.sub(lambda at: str(_fact(at, numbers)), _ONLY_FOR_THE_MOCK.sub("", value))


def _fact(at: re.Match[str], numbers: Iterator[int]) -> str | int:
    return next(numbers) if at[1] == "n" else _FACTS.get(at[1], at[0])
