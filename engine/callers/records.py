"""The records in another process, tokens and stored responses: a worker's questions, and the
recorder's answers.

A worker makes a pair of sockets for each question that it asks at the same time as others, and
passes one end over the channel; the pair then carries one question after the other. When the
recorder dies, its pairs end: each question is asked once more, over a pair that waits in the
channel for the next recorder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from engine.callers.batch_lookup import within
from engine.exchange.stage_services import BatchStore, RecordedTokens, ResponseStore, UsageSums
from engine.process.channel import Channel, Stream, receive_message, send_message
from engine.stores.database.failures import DatabaseAway, DatabaseError
from engine.values.caller import Caller

log = logging.getLogger("modelway")

Callers = Mapping[str, Caller | ValueError]
"""The caller of each digest that exists, or a ValueError if its record is invalid."""

LOOKUP_SECONDS = 2.0
"""The timeout of a query in the recorder: less than that of a cache, which then has the reason."""
SUMS_SECONDS = 5.0
"""The timeout of sums of the ledger, for which the caller waits."""
PING_SECONDS = 1.0
PING_MARGIN = 0.5
"""Seconds that a worker waits longer for the answer to a ping than the recorder for the ping."""
PING: tuple[str, ...] = ()
"""The question whether the database answers; any other consists of digests, or of the name of a
store, that of its method, and arguments."""


class Records(Protocol):
    """The records of tokens and of stored responses. `look_up` raises DatabaseError; `ping` returns
    why the database cannot be reached, or ""."""

    @property
    def responses(self) -> ResponseStore: ...
    @property
    def batches(self) -> BatchStore: ...
    @property
    def sums(self) -> UsageSums: ...
    @property
    def tokens(self) -> RecordedTokens: ...
    def look_up(self, digests: Sequence[str]) -> Callers: ...
    def ping(self) -> str: ...
    def close(self) -> None: ...


class RemoteRecords:
    """A worker's side."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._idle: list[Stream] = []

    @property
    def responses(self) -> ResponseStore:
        return _RemoteResponses(lambda *words: self._ask(("responses", *words)))

    @property
    def batches(self) -> BatchStore:
        return _RemoteBatches(lambda *words: self._ask(("batches", *words)))

    @property
    def sums(self) -> UsageSums:
        return _RemoteSums(lambda *words: self._ask(("sums", *words)))

    @property
    def tokens(self) -> RecordedTokens:
        return _RemoteTokens(lambda *words: self._ask(("tokens", *words)))

    def look_up(self, digests: Sequence[str]) -> Callers:
        """Wait for the recorder's answer. Raises DatabaseError."""
        callers: Callers = self._ask(tuple(digests))
        return callers

    def ping(self) -> str:
        try:
            error: str = within(PING_SECONDS + PING_MARGIN, partial(self._ask, PING))
        except DatabaseError as failure:
            return f"the recorder, which asks the database: {failure}"
        return error

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _ask(self, question: tuple[Any, ...]) -> Any:
        try:
            answer = self._exchange(question)
        except (EOFError, OSError):
            self.close()  # its other pairs have ended as well
            try:
                answer = self._exchange(question)
            except (EOFError, OSError) as error:
                raise DatabaseAway("the recorder, which asks the database, has ended") from error
        if isinstance(answer, DatabaseError):
            raise answer
        return answer

    def _exchange(self, question: tuple[Any, ...]) -> Any:
        sock = self._idle.pop() if self._idle else self._connect()
        try:
            send_message(sock, question)
            answer = receive_message(sock)
        except BaseException:  # also a timeout, after which the answer may come
            sock.close()
            raise
        self._idle.append(sock)
        return answer

    def _connect(self) -> Stream:
        try:
            stream = self._channel.connect()
        except OSError as error:
            raise DatabaseAway(f"the recorder cannot be asked: {error.strerror}") from error
        if stream is None:
            raise DatabaseAway("the recorder, which asks the database, does not keep up")
        return stream


class _RemoteResponses:
    """Stored responses as a worker reaches them."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def put(self, key: bytes, expires: float, data: bytes) -> None:
        self._ask("put", key, expires, data)

    def claim(self, key: bytes, expires: float, data: bytes, now: float) -> bool:
        is_own: bool = self._ask("claim", key, expires, data, now)
        return is_own

    def get(self, key: bytes, now: float) -> bytes | None:
        data: bytes | None = self._ask("get", key, now)
        return data

    def remove(self, key: bytes) -> None:
        self._ask("remove", key)

    def size(self, prefix: bytes, now: float) -> int:
        size: int = self._ask("size", prefix, now)
        return size


class _RemoteBatches:
    """Batches as a worker reaches them."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def put(self, key: bytes, data: bytes) -> None:
        self._ask("put", key, data)

    def get(self, key: bytes) -> bytes | None:
        data: bytes | None = self._ask("get", key)
        return data

    def count(self, rows: Sequence[tuple[bytes, Any]], claim: bytes) -> set[bytes]:
        counted: set[bytes] = self._ask("count", [(k, tuple(entry)) for k, entry in rows], claim)
        return counted


class _RemoteSums:
    """The sums of the ledger as a worker reaches them."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def sums(
        self, by: str, token: str, team: str, since: float, until: float
    ) -> list[dict[str, Any]] | None:
        sums: list[dict[str, Any]] | None = self._ask("sums", by, token, team, since, until)
        return sums

    def requests(self, token: str, after: str, limit: int) -> list[dict[str, Any]] | None:
        requests: list[dict[str, Any]] | None = self._ask("requests", token, after, limit)
        return requests


class _RemoteTokens:
    """The tokens of the database as a worker reaches them."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def first_to_expire(self, limit: int) -> Sequence[Caller]:
        callers: Sequence[Caller] = self._ask("first_to_expire", limit)
        return callers
