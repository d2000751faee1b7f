"""Digits of chance, for names that nobody can guess and no two of which are the same."""

from __future__ import annotations

import os

_BOUGHT = 200
"""Asking the kernel costs a system call, so it is asked for many at once."""


class Chance:
    """Draws so many hexadecimal `digits` (an even number) at a time. To be made once: a process
    keeps it as long as it lives."""

    __slots__ = ("_digits", "_drawn")

    def __init__(self, digits: int) -> None:
        self._digits = digits
        self._drawn: list[str] = []
        os.register_at_fork(after_in_child=self._drawn.clear)  # it must not draw the same

    def draw(self) -> str:
        drawn = self._drawn
        if not drawn:
            digits = self._digits
            bought = os.urandom(_BOUGHT * digits // 2).hex()
            drawn.extend(bought[at : at + digits] for at in range(0, len(bought), digits))
        return drawn.pop()
