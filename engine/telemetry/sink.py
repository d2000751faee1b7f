"""Where lines go: written at once where that does not wait, kept for a moment where it would.

Whoever reads a pipe may stop reading. Requests do not wait for them: lines wait in memory, and
beyond a bound they are dropped and counted.

Setting O_NONBLOCK on standard output would set it for every process that shares it. So a pipe or a
terminal is opened anew; a socket (journald's) is told with each send; a regular file never blocks.
What cannot be opened anew is written by a thread.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent

LIMIT = 1_000_000
"""Bytes that wait for a reader."""
_EVERY = 0.02
_NEVER = -1e300
_FULL = (errno.EAGAIN, errno.EWOULDBLOCK)
_NUMBERS: dict[str, int] = {"stdout": 1, "stderr": 2}

Write = Callable[[bytes], int]


class Sink:
    """Takes lines, each with its line end; never raises and never waits. Make it after the fork.

    `target` is stdout, stderr, a descriptor, or the path of a file, which is made anew when it was
    moved away. `dropped` counts the lines that are lost.
    """

    def __init__(self, target: str | int, limit: int = LIMIT) -> None:
        target = _NUMBERS.get(target, target) if isinstance(target, str) else target
        self.dropped = 0
        self._limit = limit
        self._file = Path(target) if isinstance(target, str) else None
        self._looked = _NEVER
        self._fd = -1
        self._socket: socket.socket | None = None
        self._threaded = False
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._flushing: Any = None
        if isinstance(target, int):
            self._open(target)

    def write(self, line: bytes) -> None:
        """Write a line or several, or keep them until somebody reads, or drop them."""
        if not self._waiting and not self._threaded:
            try:
                sent = self._send(line)
            except OSError as error:
                if error.errno not in _FULL:
                    self.dropped += line.count(b"\n")
                    return
                sent = 0
            if sent == len(line):
                return
            line = line[sent:]
        if self._size + len(line) > self._limit:
            self.dropped += line.count(b"\n")
            return
        self._waiting.append(line)
        self._size += len(line)
        if not self._flushing:
            self._flushing = gevent.spawn(self._flush)

    def close(self, patience: float = 0.5) -> None:
        """Write what still waits, as far as somebody reads; count the rest as dropped."""
        if self._flushing:
            self._flushing.join(patience)
            self._flushing.kill(block=False)
        self.dropped += sum(line.count(b"\n") for line in self._waiting)
        self._waiting.clear()
        if self._socket is not None:
            self._socket.close()
        if self._fd >= 0 and not self._threaded:
            os.close(self._fd)
        self._fd = -1

    def _open(self, number: int) -> None:
        try:
            mode = os.fstat(number).st_mode
            if stat.S_ISSOCK(mode):
                self._socket = socket.socket(fileno=os.dup(number))
            elif stat.S_ISREG(mode):
                self._fd = os.dup(number)
            else:
                flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                self._fd = os.open(f"/proc/self/fd/{number}", flags)
        except OSError:
            self._fd, self._threaded = number, True

    def _send(self, line: bytes) -> int:
        if self._socket is not None:
            return self._socket.send(line, socket.MSG_DONTWAIT)
        if self._file is not None:
            self._reopen(self._file)
        return os.write(self._fd, line)

    def _reopen(self, path: Path) -> None:
        """Once a second: is the file still the one at its path?"""
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        if self._fd >= 0 and _is_at(path, os.fstat(self._fd)):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        made = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = made

    def _flush(self) -> None:
        while self._waiting:
            line = self._waiting[0]
            try:
                sent = self._threaded_send(line) if self._threaded else self._send(line)
            except OSError as error:
                if error.errno in _FULL:
                    gevent.sleep(_EVERY)
                    continue
                self.dropped += line.count(b"\n")
                sent = len(line)
            self._size -= sent
            if sent < len(line):
                self._waiting[0] = line[sent:]
            else:
                self._waiting.popleft()

    def _threaded_send(self, line: bytes) -> int:
        return int(gevent.get_hub().threadpool.apply(os.write, (self._fd, line)))


def _is_at(path: Path, known: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), known)
    except FileNotFoundError:
        return False
