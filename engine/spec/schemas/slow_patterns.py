"""Patterns of schemas that may take long for a text, and whether a value has such a text.

The engine reads a text once, with two exceptions. A pattern that looks around or refers back is
tried in one way after another: a text of forty characters may have a million ways, and one of
8 KB a search of 70 ms at each of its positions. And a pattern with a counted repetition behind
another one, `a.{0,200}b`, is at two hundred places of it at once: 100 KB take 0.4 s. Either is one
call of a library in C, in which nothing else of the process runs.

What a text really takes is found by trying the pattern with a bound: of the ways, or of the
length. Only values that exceed a bound are judged elsewhere (`judge_in_child.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from time import thread_time

import jsonschema_rs

MAX_SECONDS = 0.003
"""How long the texts of one value may take here."""
MAX_WAYS = 20_000
"""Ways of one text: 0.4 ms."""
ALL_WAYS = jsonschema_rs.FancyRegexOptions(backtrack_limit=1 << 62)
"""For a process that nobody waits for: as many ways as there are. The engine's own limit refuses
texts that a pattern matches."""
_SQUARES = 2_000_000
"""The sum of the squares of the lengths of texts in which a pattern looks around: about 5 ms."""
_STEPS = 250_000
"""Characters times places of a pattern, at 10 to 20 ns each."""
_PIECE = 1_000
"""Characters that a pattern with many places is tried with at once."""

_LOOKS_AROUND = r"\(\?(?:<?[=!]|>)|\\[1-9k]|[*+?}]\+"
"""Also a possessive repetition, `a++`: it has the engine of those that look around."""
_looks_around = re.compile(_LOOKS_AROUND).search
_may_be_slow = re.compile(rf"{_LOOKS_AROUND}|\{{\d").search
_PLAIN = re.compile(r"\\[pPux]\{[^}]*\}|\\[^1-9k]|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
"""A class, or an escape that refers to nothing."""
_ATOM = re.compile(r"\\[pPux]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
"""An escape or a class: one character of a text."""
_TOKEN = re.compile(r"\{(\d+)(?:(,)(\d*))?\}|[()]|[^()]", re.DOTALL)
_MANY = 10
"""Repetitions that make a pattern one with many places."""


class SlowPatterns:
    """The patterns of a schema that may take long: those that look around or refer back, and those
    with many places, each with their number."""

    def __init__(self, fancy: list[str], counted: dict[str, int]) -> None:
        options = jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_WAYS)
        self._fancy = [_validator(pattern, options) for pattern in fancy]
        self._counted = [(_validator(each), places) for each, places in counted.items()]

    def may_take_long(self, value: object) -> bool:
        """Whether judging a JSON value may take longer than others should wait. It takes about
        MAX_SECONDS at most to find that."""
        end = thread_time() + MAX_SECONDS
        squares = 0
        for text in _texts(value):
            squares += len(text) ** 2
            if self._fancy and squares > _SQUARES:
                return True
            for validator in self._fancy:
                if _has_ways(validator, text) or thread_time() > end:
                    return True
            for validator, places in self._counted:
                if len(text) * places > _STEPS and _takes_long(validator, text, end):
                    return True
            if thread_time() > end:
                return True
        return False


NO_PATTERNS = SlowPatterns([], {})


def _texts(value: object) -> Iterator[str]:
    """All texts of a JSON value, and the names of its members."""
    queue = [value]
    while queue:
        each = queue.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            queue += each
        elif isinstance(each, dict):
            queue += each.values()
            yield from each


def _has_ways(validator: jsonschema_rs.Validator, text: str) -> bool:
    """Whether a pattern may match a text in more than MAX_WAYS ways."""
    limit = jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded
    return any(isinstance(error.kind, limit) for error in validator.iter_errors(text))


def _takes_long(validator: jsonschema_rs.Validator, text: str, end: float) -> bool:
    """Whether a pattern with many places is at too many of them in a text."""
    for start in range(0, len(text), _PIECE):
        validator.is_valid(text[start : start + _PIECE])
        if thread_time() > end:
            return True
    return False


def slow_patterns(texts: Iterable[str]) -> SlowPatterns | None:
    """The patterns of schemas, JSON texts, that may take long; None if there are none."""
    patterns: dict[str, None] = {}
    for text in texts:
        if '"pattern' in text and _may_be_slow(text):
            patterns |= dict.fromkeys(_patterns(json.loads(text)))
    fancy = [each for each in patterns if _looks_around(_PLAIN.sub("a", each)) and _is_valid(each)]
    places = {each: _live_places(each) for each in patterns if each not in fancy}
    counted = {each: n for each, n in places.items() if n > 1 and _is_valid(each)}
    return SlowPatterns(fancy, counted) if fancy or counted else None


def _patterns(schema: object) -> Iterator[str]:
    """The patterns in a schema. Those that only look so, in an example, do no harm."""
    queue = [schema]
    while queue:
        each = queue.pop()
        if isinstance(each, list):
            queue += each
        elif isinstance(each, dict):
            queue += each.values()
            found = [each.get("pattern"), *each.get("patternProperties", ())]
            yield from (text for text in found if isinstance(text, str))


def _is_valid(pattern: str) -> bool:
    try:
        _validator(pattern)
    except ValueError:  # also jsonschema_rs.ValidationError
        return False
    return True


@lru_cache(maxsize=1_000)
def _validator(
    pattern: str, options: jsonschema_rs.FancyRegexOptions | None = None
) -> jsonschema_rs.Validator:
    schema = {"pattern": pattern}
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=options)


def _live_places(pattern: str) -> int:
    """At how many places of a pattern the engine may be at once for one position of a text: 1 if
    it begins at the start of the text, with one repetition that can end in several ways."""
    plain = _ATOM.sub("a", pattern)
    varies = len(re.findall(r"[*+?]|\{\d+,", plain))
    if plain.startswith("^") and "|" not in plain and varies <= 1:
        return 1
    levels, last, largest = [0], 0, 1
    for token in _TOKEN.finditer(plain):
        if token[0] == "(":
            levels.append(0)
        elif token[0] == ")" and len(levels) > 1:
            last = levels.pop()
            levels[-1] += last
        elif token[1]:
            times = int(token[3] or token[1])
            levels[-1] += last * (times - 1)
            largest = max(largest, times)
        else:
            last = 1
            levels[-1] += 1
    return sum(levels) if largest >= _MANY else 1
