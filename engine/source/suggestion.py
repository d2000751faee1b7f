"""The name that was probably meant, out of very many, at a small and bounded cost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from engine.source.problem import near

_NEIGHBOURS = 30
"""Names looked at on each side, in the order of first letters and in that of last letters."""
_COMPARED = 5
"""Names that are compared letter by letter: those that share most at both ends."""
_LONGEST = 200


class Suggestions:
    """Finds near names among those that share the first or the last letters: at most 120.

    The names are sorted when the first suggestion is asked for.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)

    def near(self, name: str, usable: Callable[[str], bool]) -> str | None:
        """The `usable` name that this one was probably meant to be, or None."""
        if len(name) > _LONGEST:
            return None
        folded = name.casefold()
        by_start, by_end = self._sorted
        candidates = {*_neighbours(by_start, folded), *_neighbours(by_end, folded[::-1])}
        alike = sorted(
            (one for one in candidates if usable(one)),
            key=lambda one: (-_shared(folded, one.casefold()), one),
        )
        return near(name, alike[:_COMPARED])

    @cached_property
    def _sorted(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        folded = [(name.casefold(), name) for name in self._names]
        return sorted(folded), sorted((key[::-1], name) for key, name in folded)


def _neighbours(names: Sequence[tuple[str, str]], key: str) -> list[str]:
    at = bisect_left(names, (key,))
    return [name for _, name in names[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]]


def _shared(a: str, b: str) -> int:
    """How many letters two names share at their beginning and, of the rest, at their end."""
    length = min(len(a), len(b))
    start = 0
    while start < length and a[start] == b[start]:
        start += 1
    end = 0
    while end < length - start and a[-1 - end] == b[-1 - end]:
        end += 1
    # What is left over on either side tells them apart.
    return 2 * (start + end) - len(b)
