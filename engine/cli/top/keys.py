"""The keyboard of a terminal: a key at a time, without Enter."""

from __future__ import annotations

import os
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

_TENTHS = 2
"""How long one look for a key waits, in tenths of a second."""


class Keys:
    """Whoever sits at the terminal; nobody, where standard input is none."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def pressed(self) -> str:
        """The key that is pressed in the next fifth of a second, "" for none."""
        if self._fd is None:
            time.sleep(_TENTHS / 10)
            return ""
        return os.read(self._fd, 1).decode("latin-1")


@contextmanager
def keys() -> Iterator[Keys]:
    """The keyboard; the terminal is as it was when the block ends."""
    fd = sys.stdin.fileno()
    if not os.isatty(fd):
        yield Keys(None)
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        mode = termios.tcgetattr(fd)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 0, _TENTHS
        termios.tcsetattr(fd, termios.TCSANOW, mode)
        yield Keys(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
