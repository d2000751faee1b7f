"""Writes log lines to a descriptor, a socket or a file, without ever blocking.

The reader of a pipe may stop reading. Requests do not wait for it: lines are queued in memory, and
dropped and counted beyond a limit.

O_NONBLOCK on standard output would apply to every process that shares it. So a pipe or terminal is
opened again with a file description of its own; a socket (journald's) gets MSG_DONTWAIT with each
send; a regular file never blocks. A thread writes to a descriptor that cannot be opened again.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import time
from collections import deque
from pathlib import Path

import gevent

LIMIT = 1_000_000
"""The most bytes in the queue."""
_RETRY_INTERVAL = 0.02
_STAT_INTERVAL = 1.0
_WOULD_BLOCK = (errno.EAGAIN, errno.EWOULDBLOCK)
_DESCRIPTORS: dict[str, int] = {"stdout": 1, "stderr": 2}


class Sink:
    """Writes lines, each with its line end; never raises, never blocks. Create it after the fork.

    `target` is stdout, stderr, a descriptor, or the path of a file, which is created again when it
    was moved (log rotation). `dropped` counts lost lines.
    """

    def __init__(self, target: str | int, limit: int = LIMIT) -> None:
        target = _DESCRIPTORS.get(target, target) if isinstance(target, str) else target
        self.dropped = 0
        self._limit = limit
        self._path = Path(target) if isinstance(target, str) else None
        self._next_stat = -1e300
        self._fd = -1
        self._socket: socket.socket | None = None
        self._threaded = False
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._flusher: gevent.Greenlet[[], None] | None = None
        if isinstance(target, int):
            self._open(target)

    def write(self, lines: bytes) -> None:
        """Write one or more lines. Queue them if the reader is slow; drop them if the queue is
        full."""
        if not self._queue and not self._threaded:
            try:
                count = self._send(lines)
            except OSError as error:
                if error.errno not in _WOULD_BLOCK:
                    self.dropped += lines.count(b"\n")
                    return
                count = 0
            if count == len(lines):
                return
            lines = lines[count:]
        if self._size + len(lines) > self._limit:
            self.dropped += lines.count(b"\n")
            return
        self._queue.append(lines)
        self._size += len(lines)
        if not self._flusher:
            self._flusher = gevent.spawn(self._flush)

    def close(self, timeout: float = 0.5) -> None:
        """Write the queued lines, for at most `timeout` seconds; count the rest as dropped."""
        if self._flusher:
            self._flusher.join(timeout)
            self._flusher.kill(block=False)
        self.dropped += sum(lines.count(b"\n") for lines in self._queue)
        self._queue.clear()
        if self._socket is not None:
            self._socket.close()
        if self._fd >= 0 and not self._threaded:
            os.close(self._fd)
        self._fd = -1

    def _open(self, descriptor: int) -> None:
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISSOCK(mode):
                self._socket = socket.socket(fileno=os.dup(descriptor))
            elif stat.S_ISREG(mode):
                self._fd = os.dup(descriptor)
            else:
                flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                self._fd = os.open(f"/proc/self/fd/{descriptor}", flags)
        except OSError:
            self._fd, self._threaded = descriptor, True

    def _send(self, lines: bytes) -> int:
        if self._socket is not None:
            return self._socket.send(lines, socket.MSG_DONTWAIT)
        if self._path is not None:
            self._reopen(self._path)
        return os.write(self._fd, lines)

    def _reopen(self, path: Path) -> None:
        """Open the path again if its file was replaced; checks once a second."""
        now = time.monotonic()
        if now < self._next_stat:
            return
        self._next_stat = now + _STAT_INTERVAL
        if self._fd >= 0 and _is_same_file(path, os.fstat(self._fd)):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = fd

    def _flush(self) -> None:
        while self._queue:
            lines = self._queue[0]
            try:
                count = self._send_by_thread(lines) if self._threaded else self._send(lines)
            except OSError as error:
                if error.errno in _WOULD_BLOCK:
                    gevent.sleep(_RETRY_INTERVAL)
                    continue
                self.dropped += lines.count(b"\n")
                count = len(lines)
            self._size -= count
            if count < len(lines):
                self._queue[0] = lines[count:]
            else:
                self._queue.popleft()

    def _send_by_thread(self, lines: bytes) -> int:
        return int(gevent.get_hub().threadpool.apply(os.write, (self._fd, lines)))


def _is_same_file(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except FileNotFoundError:
        return False
