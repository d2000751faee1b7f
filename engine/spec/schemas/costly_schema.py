"""Schemas of which a body of some kilobytes may take longer to validate than other requests should
wait: those that apply many others to one value, and those with keywords that take long by
themselves.

They are only presumed to be costly: a worker lets a heavy worker serve their bodies until these
have shown what they cost (`server/large_requests/large_sizes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

COSTLY = 150
"""How often the schemas of one that is presumed to be costly are applied to one value, at least. In
vendors' documents it is 140 and less, and 100 KB take 1 to 4 ms; with 200 patterns they take 90."""

_MANY = '"patternProperties"'
_ALTERNATIVES = ('"oneOf"', '"anyOf"', '"allOf"')
_MIN_LENGTH = 10 * COSTLY
"""Characters of so many alternatives that refer to nothing."""
_PATTERN = '"pattern"'
_SLOW_PATTERN = re.compile(
    r'"pattern":\s*"(?:[^"\\]|\\[^\\]|\\\\(?:\\.|[^"\\1-9k]))*?(?:\(\?<?[=!]|\\\\[1-9k])'
)
"""A pattern that looks around or refers back, for which the engine backtracks: 100 KB take 90 ms
and more. Others take a time in proportion to the text."""
_SLOW_NAME = re.compile(r"\(\?<?[=!]|\\\\[1-9k]")
"""What such a pattern has; in a text with patterns of names it may be in one of these."""
_SLOW_NUMBER = re.compile(r'"multipleOf":\s*(?:\d+\.\d*[1-9]|\d+(?:\.\d+)?[eE]-)')
"""A multiple of a fraction, which takes 2 us for each number."""


def may_apply_many(texts: Iterable[str]) -> bool:
    """Whether these JSON texts may have a keyword that applies many schemas to one value, although
    they have few references."""
    return any(_MANY in each or _has_long_list(each) for each in texts)


def _has_long_list(text: str) -> bool:
    return len(text) > _MIN_LENGTH and any(keyword in text for keyword in _ALTERNATIVES)


def has_slow_pattern(texts: Iterable[str]) -> bool:
    """Whether these JSON texts may have a pattern that takes long for a long text."""
    return any(
        (_PATTERN in text and _SLOW_PATTERN.search(text) is not None)
        or (_MANY in text and _SLOW_NAME.search(text) is not None)
        for text in texts
    )


def has_fraction(texts: Iterable[str]) -> bool:
    """Whether these JSON texts have a keyword that takes long for each number."""
    return any('"multipleOf"' in text and _SLOW_NUMBER.search(text) for text in texts)
