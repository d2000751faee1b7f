"""Suggestions for misspelt names (`did you mean 'x'?`), and names of invisible characters.

A name is suggested if at most a third of the letters of the longer one are wrong; a wrong
suggestion is worse than none. Characters that look like a space or like nothing come from editors,
chats and web pages.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

_NEIGHBOURS = 30
"""Candidates on each side of the name, in the sorting by beginnings and in that by ends."""
_COMPARED = 5
"""Candidates compared letter by letter: those that share most letters at both ends."""
_LISTED = 9
"""Names of which `did_you_mean` lists the first, one more than it shows."""
_MAX_LENGTH = 200
_MAX_EDITS = 8
"""The most wrong letters of a long name."""
_NAMES = {
    "\u00a0": "a no-break space",
    "\u00ad": "a soft hyphen",
    "\u2007": "a figure space",
    "\u200b": "a zero-width space",
    "\u200c": "a zero-width non-joiner",
    "\u200d": "a zero-width joiner",
    "\u200e": "a left-to-right mark",
    "\u202f": "a narrow no-break space",
    "\u2060": "a word joiner",
    "\u3000": "an ideographic space",
    "\ufeff": "a byte order mark",
}
_REMOVE = dict.fromkeys(map(ord, _NAMES))


def near(name: object, names: Iterable[str]) -> str | None:
    """The name of `names` closest to `name`, or None if none is close. A very long name has
    none."""
    if len(str(name)) > _MAX_LENGTH:
        return None
    by_folded = {str(candidate).casefold(): candidate for candidate in reversed(list(names))}
    folded = str(name).casefold()
    edits: dict[str, int] = {}
    for candidate in difflib.get_close_matches(folded, list(by_folded), n=_COMPARED, cutoff=0.6):
        most = min(max(len(folded), len(candidate)) // 3, _MAX_EDITS)
        if (wrong := distance(folded, candidate, most)) <= most:
            edits[candidate] = wrong
    if not edits:
        edits = {n: 1 for n in by_folded if _of_short_names(folded, n)}
    return by_folded[min(edits, key=edits.__getitem__)] if edits else None


def _of_short_names(word: str, name: str) -> bool:
    """Whether a word has the letters of a name of two or three, or one of two."""
    return (
        len(name) < 4
        and (sorted(word) == sorted(name) or len(word) == len(name) - 1 == 1)
        and (set(word) <= set(name))
    )


def distance(word: str, target: str, most: int = _MAX_LENGTH) -> int:
    """The number of insertions, deletions, substitutions and swaps of neighbours (optimal string
    alignment distance); a number above `most` stands for any."""
    beyond = most + 1
    if abs(len(word) - len(target)) > most:
        return beyond
    above = [beyond] * (len(target) + 1)
    row = list(range(len(target) + 1))
    for i, letter in enumerate(word, 1):
        before, above, row = above, row, [beyond] * (len(target) + 1)
        row[0] = i
        for j in range(max(1, i - most), min(len(target), i + most) + 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != target[j - 1]))
            if i > 1 and j > 1 and letter == target[j - 2] and word[i - 2] == target[j - 1]:
                cost = min(cost, before[j - 2] + 1)
            row[j] = cost
    edits: int = min(row[-1], beyond)
    return edits


def did_you_mean(name: object, names: Iterable[str], otherwise: str = "") -> str:
    """A hint for an unknown name: the closest of `names`, else `otherwise` or a list of `names`."""
    candidates = list(names)
    if (char := invisible(str(name))) and (plain := without_invisible(str(name))) in candidates:
        return f"it has {char}; write '{plain}'"
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
        self._hints: dict[str, str] = {}

    def hint(self, name: str) -> str:
        """What `did_you_mean` says of a name: thousands of entries may have the same mistake."""
        if name not in self._hints:
            closest = self.near(name, lambda _: True)
            names = sorted(self._names)[:_LISTED] if closest is None else [closest]
            self._hints[name] = did_you_mean(name, names)
        return self._hints[name]

    def near(self, name: str, usable: Callable[[str], bool]) -> str | None:
        """The `usable` name closest to this one, or None."""
        if len(name) > _MAX_LENGTH:
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


def invisible(text: str) -> str:
    """The name of the first such character in a text, with its code; "" if there is none."""
    for char in text:
        if char in _NAMES:
            return f"{_NAMES[char]} (U+{ord(char):04X})"
    return ""


def without_invisible(text: str) -> str:
    """A text without these characters, and without spaces at its ends."""
    return text.translate(_REMOVE).strip()
