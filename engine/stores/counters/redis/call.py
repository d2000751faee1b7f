"""One call to a Redis server: its connection and its failures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)

from engine.stores.counters.redis.address import Connection
from engine.stores.counters.redis.connection import Answer, Command, exchange
from engine.values.counters import CountersAway

OnLate = Callable[[Answer], None]
"""Called with the late answer to a call that timed out. If none will come, it is called with the
CountersAway that `RedisClient.call` would have raised."""


class Unsent(CountersAway):
    """The server has executed nothing of this call: it cannot be reached, or it refused it."""


class Pending(CountersAway):
    """The call was sent and timed out; `on_late` is called with the result."""


class NotServed(Unsent):
    """A node of a cluster does not serve these keys at present; the command was not executed.
    `error` is its answer."""

    def __init__(self, message: str, error: ResponseError) -> None:
        super().__init__(message)
        self.error = error


NOT_SERVED = (AskError, TryAgainError, ClusterDownError)
"""Answers that become `NotServed`; MovedError is an AskError."""
_REFUSALS = (
    *(*NOT_SERVED, NoScriptError, OutOfMemoryError, ReadOnlyError),
    *(AuthenticationError, BusyLoadingError, NoPermissionError),
)
_REFUSAL = re.compile(r"^BUSY |\b(OOM|READONLY|MISCONF|NOREPLICAS)\b")
"""Errors without a class, and those of scripts in Redis before version 7."""
_IN_SCRIPT = "ACL failure in script"
"""Redis 7.2 and later: a script lacks a permission, and may have written before."""


class PartitionClient(Protocol):
    """The interface of `RedisClient` and `SlotClient` for counters. `lost_at` is when a loss of
    data was last detected, `back_at` when the server was last available again: both on the
    monotonic clock, -inf if never."""

    name: str

    @property
    def lost_at(self) -> float: ...

    @property
    def back_at(self) -> float: ...

    def raise_if_away(self) -> None: ...

    def call(
        self, command: Command, *, resend: bool = True, on_late: OnLate | None = None
    ) -> Answer: ...

    def close(self) -> None: ...


class Attempt:
    """The connection of a call, and whether the command was sent on it."""

    __slots__ = ("asking", "connection", "was_sent")

    def __init__(self, asking: bool) -> None:
        self.asking = asking
        self.connection: Connection = None
        self.was_sent = False

    def exchange(self, command: Command) -> Answer:
        """Send the command, and return its answer."""
        self.was_sent = True
        return exchange(self.connection, command, asking=self.asking)

    def discard(self) -> None:
        """Close the connection, so that the next call does not read a late answer."""
        if self.connection is not None:
            self.connection.disconnect()


def is_no_master(error: ResponseError) -> bool:
    """Whether the server refuses writes because it is a replica. Redis before version 7 has
    READONLY only in the text of the script's error."""
    return isinstance(error, ReadOnlyError | MasterDownError) or "READONLY" in str(error)


def is_refusal(error: BaseException) -> bool:
    """Whether the server executed nothing. In some states, such as with a full memory, it refuses
    the first write of a script, so that all or none of its writes are executed."""
    if _IN_SCRIPT in str(error):
        return False
    if isinstance(error, _REFUSALS):
        return True
    return isinstance(error, ResponseError) and _REFUSAL.search(str(error)) is not None


def reason_of(error: Exception) -> str:
    """The reason of an error, for messages."""
    if isinstance(error, MovedError):
        return "it is a node of a cluster; write redis+cluster://host:port,host:port"
    return str(error) or type(error).__name__
