"""Passes sockets from workers to heavy workers, over a pair of sockets that both inherit."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

from gevent.socket import wait_read

_MAX_PASSED = 2
_FULL = (errno.EAGAIN, errno.ENOBUFS, errno.ETOOMANYREFS)


class Channel:
    """The two ends of a channel. Made in the master; a worker keeps the one, a heavy worker the
    other, so that each end closes with the last process that has it."""

    def __init__(self) -> None:
        self._sending, self._receiving = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending.setblocking(False)
        self._receiving.setblocking(False)

    def keep_sending(self) -> None:
        """Called in a worker."""
        self._receiving.close()

    def keep_receiving(self) -> None:
        """Called in a heavy worker."""
        self._sending.close()

    def close(self) -> None:
        """Close the ends that this process has."""
        self._sending.close()
        self._receiving.close()

    def send(self, descriptors: Sequence[int]) -> bool:
        """Pass descriptors on, without waiting. False if the heavy workers do not keep up. Raises
        OSError if none is left."""
        try:
            socket.send_fds(self._sending, [b"."], descriptors)
        except OSError as error:
            if error.errno in _FULL:
                return False
            raise
        return True

    def receive(self) -> list[int] | None:
        """Wait for descriptors, which several heavy workers may do; None when no worker is left."""
        while True:
            wait_read(self._receiving.fileno())
            try:
                data, descriptors, _, _ = socket.recv_fds(self._receiving, 1, _MAX_PASSED)
            except BlockingIOError:  # another one was faster
                continue
            return descriptors if data else None
