"""How many tokens of text an answer has, when the upstream does not say: estimated by its size."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import orjson

from engine.values.usage import Usage

SAMPLE = 8_192
"""Bytes from the beginning of an answer by which the share of text in it is estimated."""

BYTES_PER_TOKEN = 4

_TEXT = re.compile(
    rb'"(?:content|text|delta|thinking|partial_json|arguments|reasoning|reasoning_content|refusal)"'
    rb'\s*+:\s*+"([^"\\]*+(?:\\.[^"\\]*+)*+)',
    re.DOTALL,
)


def tokens(sample: bytes, size: int) -> int:
    """Tokens of text in an answer of `size` bytes that begins with `sample`."""
    found: list[bytes] = _TEXT.findall(sample)
    text = sum(len(one) - 3 * one.count(b"\\u") for one in found)
    if text <= 0:
        return 0
    return max(1, text * size // (len(sample) * BYTES_PER_TOKEN))


def without_counts(estimate: Usage, output: int) -> Usage:
    """The usage of an answer that says none: as estimated, with the output that came."""
    return replace(estimate, output=output, reasoning=0, source="estimated")


def with_known(said: Usage, estimate: Usage) -> Usage:
    """What the upstream said, and what only the request tells: the characters read aloud."""
    return replace(said, characters=estimate.characters) if estimate.characters else said


def parsed(text: bytes) -> Any:
    """The JSON value; None for what is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
