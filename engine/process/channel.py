"""Passes sockets from workers to another process, over a pair of sockets that both inherit."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

import gevent.socket
from gevent.socket import wait_read

_MAX_PASSED = 2
_FULL = (errno.EAGAIN, errno.ENOBUFS, errno.ETOOMANYREFS)


Stream = gevent.socket.socket
"""One end of a pair whose other end was passed to another process."""


class Channel:
    """The two ends of a channel. Made in the master; a worker keeps the one, the process that
    serves workers the other, so that each end closes with the last process that has it."""

    def __init__(self) -> None:
        self._sending, self._receiving = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending.setblocking(False)
        self._receiving.setblocking(False)

    def keep_sending(self) -> None:
        """Called in a worker."""
        self._receiving.close()

    def keep_receiving(self) -> None:
        """Called in a process that serves workers."""
        self._sending.close()

    def close(self) -> None:
        """Close the ends that this process has."""
        self._sending.close()
        self._receiving.close()

    def send(self, descriptors: Sequence[int]) -> bool:
        """Pass descriptors on, without waiting. False if the receivers do not keep up. Raises
        OSError if none is left."""
        try:
            socket.send_fds(self._sending, [b"."], descriptors)
        except OSError as error:
            if error.errno in _FULL:
                return False
            raise
        return True

    def connect(self) -> Stream | None:
        """A stream to a receiver, which `receive` gives the other end. None if the receivers do not
        keep up. Raises OSError."""
        near, far = gevent.socket.socketpair()
        is_passed = False
        try:
            with far:
                is_passed = self.send([far.fileno()])
        finally:
            if not is_passed:
                near.close()
        return near if is_passed else None

    def receive(self) -> list[int] | None:
        """Wait for descriptors, which several processes may do; None when no worker is left."""
        while True:
            wait_read(self._receiving.fileno())
            try:
                data, descriptors, _, _ = socket.recv_fds(self._receiving, 1, _MAX_PASSED)
            except BlockingIOError:  # another one was faster
                continue
            return descriptors if data else None
