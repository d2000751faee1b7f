"""Suggestions for misspelt names: `did you mean 'x'?`."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

_NEIGHBOURS = 30
"""Candidates on each side of the name, in the sorting by beginnings and in that by ends."""
_COMPARED = 5
"""Candidates compared letter by letter: those that share most letters at both ends."""
_LONGEST = 200


def near(name: object, names: Iterable[str]) -> str | None:
    """The name of `names` closest to `name`, or None. A very long name has none."""
    if len(str(name)) > _LONGEST:
        return None
    by_folded = {str(candidate).casefold(): candidate for candidate in reversed(list(names))}
    folded = str(name).casefold()
    close = difflib.get_close_matches(folded, list(by_folded), n=1, cutoff=0.6)
    if not close:
        close = [n for n in by_folded if len(n) < 4 and sorted(n) == sorted(folded)]
    return by_folded[close[0]] if close else None


def did_you_mean(name: object, names: Iterable[str], otherwise: str = "") -> str:
    """A hint for an unknown name: the closest of `names`, else `otherwise` or a list of `names`."""
    candidates = list(names)
    closest = near(name, candidates)
    if closest is not None:
        return f"did you mean '{closest}'?"
    if otherwise or not candidates:
        return otherwise
    first_names = ", ".join(sorted(candidates)[:8])
    return f"known: {first_names}{', ...' if len(candidates) > 8 else ''}"


class Suggestions:
    """Finds the closest of very many names at a bounded cost: at most 120 names with the same first
    or last letters are candidates.

    The names are sorted at the first search.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)

    def near(self, name: str, usable: Callable[[str], bool]) -> str | None:
        """The `usable` name closest to this one, or None."""
        if len(name) > _LONGEST:
            return None
        folded = name.casefold()
        by_start, by_end = self._sorted
        candidates = {*_neighbours(by_start, folded), *_neighbours(by_end, folded[::-1])}
        alike = sorted(
            (candidate for candidate in candidates if usable(candidate)),
            key=lambda candidate: (-_shared(folded, candidate.casefold()), candidate),
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
    """The likeness of two names: letters shared at the beginning and at the end, twice, less the
    length of the second."""
    length = min(len(a), len(b))
    start = 0
    while start < length and a[start] == b[start]:
        start += 1
    end = 0
    while end < length - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return 2 * (start + end) - len(b)
