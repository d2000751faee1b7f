"""The pipe through which new workers tell their master that they have booted, or why not."""

from __future__ import annotations

import contextlib
import os

_LONGEST = 2_000
"""Bytes of one message: up to 4096 a pipe takes them at once, so that two never mix."""


class BootPipe:
    """One for a master and all its workers. `booted` holds the ages of the workers that have, as
    gunicorn counts them; `failures` what those said that have not, the last one last."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._rest = b""
        self.booted: set[int] = set()
        self.failures: list[str] = []

    def tell_booted(self, age: int) -> None:
        """In a worker: it is ready to serve."""
        self._tell(f"booted {age}")

    def tell_failed(self, reason: str) -> None:
        """In a worker: it will never be."""
        self._tell(f"failed {' '.join(reason.split())}")

    def _tell(self, message: str) -> None:
        data = message.encode(errors="backslashreplace")[:_LONGEST] + b"\n"
        with contextlib.suppress(OSError):  # the master is gone
            os.write(self._write, data)

    def look(self) -> bool:
        """In the master: take in what was told since the last look, and say whether another worker
        has booted. Never waits."""
        before = len(self.booted)
        while data := self._more():
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                kind, _, words = line.decode(errors="replace").partition(" ")
                if kind == "booted":
                    self.booted.add(int(words))
                else:
                    self.failures.append(words)
        return len(self.booted) > before

    def _more(self) -> bytes:
        try:
            return os.read(self._read, 65536)
        except BlockingIOError:
            return b""
