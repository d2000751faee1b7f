"""The idle connections to one upstream.

Last in, first out: the connection used last is the most likely to be open. Connections that are not
needed any more reach their idle timeout, here or at the other end.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.upstream.client.connection import Connection


class Pool:
    """At most `size` idle connections, none idle longer than `idle` or older than `age` seconds.

    No method waits, so two greenlets never run in one. Expired connections are closed when the next
    one is given back, or by `prune`, which the client calls about every `idle` seconds.
    """

    __slots__ = ("_age", "_clock", "_connections", "_idle", "_size")

    def __init__(self, size: int, idle: float, age: float, clock: Callable[[], float]) -> None:
        self._size = size
        self._idle = idle
        self._age = age
        self._clock = clock
        self._connections: list[Connection] = []  # longest idle first

    def __len__(self) -> int:
        return len(self._connections)

    def take(self) -> Connection | None:
        """An idle connection that the upstream has not closed, as far as is known; None without."""
        now = self._clock()
        while self._connections:
            connection = self._connections.pop()
            # An idle connection is readable after an end, an error or unexpected bytes: unusable.
            if now < connection.usable_until and not connection.readable():
                return connection
            connection.close()
        return None

    def give(self, connection: Connection) -> None:
        """Take a connection back after a complete response."""
        now, end = self._clock(), connection.born + self._age
        if self._size < 1 or now >= end:
            connection.close()
            return
        connection.usable_until = min(now + self._idle, end)
        self._connections.append(connection)
        oldest = self._connections[0]
        while oldest is not connection and (
            len(self._connections) > self._size or now >= oldest.usable_until
        ):
            self._connections.pop(0).close()
            oldest = self._connections[0]

    def prune(self) -> None:
        """Close the expired connections."""
        now = self._clock()
        for connection in [each for each in self._connections if now >= each.usable_until]:
            self._connections.remove(connection)
            connection.close()

    def close(self) -> None:
        """Close the idle connections now, the others when they are given back."""
        self._size = 0  # `give` closes them
        while self._connections:
            self._connections.pop().close()
