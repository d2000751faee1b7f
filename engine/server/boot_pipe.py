"""A pipe from workers to their master: whether they have booted, and why they failed."""

from __future__ import annotations

import contextlib
import os

_MAX_MESSAGE = 2_000
"""Bytes of one message. A pipe writes up to 4096 atomically, so that two never mix."""


class BootPipe:
    """The pipe of a master and all its workers.

    `booted` holds gunicorn's `age` of each worker that has booted, `failures` why others failed,
    oldest first, and `errors` the same by process id; `crashes` counts the workers that failed
    after they had booted.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._partial_line = b""
        self.booted: set[int] = set()
        self.failures: list[str] = []
        self.errors: dict[int, str] = {}
        self.crashes = 0

    def tell_booted(self, age: int) -> None:
        """Called in a worker that is ready to serve."""
        self._tell(f"booted {age}")

    def tell_failed(self, reason: str) -> None:
        """Called in a worker that cannot start."""
        self._tell(f"failed {os.getpid()} {' '.join(reason.split())}")

    def tell_crashed(self, reason: str) -> None:
        """Called in a worker that has booted and failed since."""
        self._tell(f"crashed {os.getpid()} {' '.join(reason.split())}")

    def _tell(self, message: str) -> None:
        data = message.encode(errors="backslashreplace")[:_MAX_MESSAGE] + b"\n"
        with contextlib.suppress(OSError):  # the master is gone
            os.write(self._write, data)

    def receive(self) -> None:
        """Called in the master: read the new messages without waiting."""
        while data := self._read_pipe():
            *lines, self._partial_line = (self._partial_line + data).split(b"\n")
            for line in lines:
                kind, _, words = line.decode(errors="replace").partition(" ")
                if kind == "booted":
                    self.booted.add(int(words))
                else:
                    pid, _, reason = words.partition(" ")
                    self.failures.append(reason)
                    self.errors[int(pid)] = reason
                    self.crashes += kind == "crashed"

    def _read_pipe(self) -> bytes:
        try:
            return os.read(self._read, 65536)
        except BlockingIOError:
            return b""
