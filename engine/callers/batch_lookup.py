"""Batched lookups: keys that are queued at the same time are looked up together, within a time
limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

import gevent
from gevent.event import AsyncResult

from engine.stores.database.failures import DatabaseAway

T = TypeVar("T")


class Batches(Generic[T]):
    """Calls `look_up` with up to `size` keys at once, in at most `concurrency` greenlets.

    A batch starts on the next turn of the event loop, with every key queued until then. A key for
    which several greenlets wait is looked up once. Keys wait in order of arrival, at most one per
    greenlet, so the worker's connections bound the queue.
    """

    def __init__(
        self,
        look_up: Callable[[Sequence[str]], Mapping[str, T]],
        *,
        size: int = 256,
        concurrency: int = 4,
    ) -> None:
        self._look_up = look_up
        self._size = size
        self._concurrency = concurrency
        self._queue: dict[str, AsyncResult[T | None]] = {}
        self._pending: dict[str, AsyncResult[T | None]] = {}  # queued, or being looked up
        self._running = 0

    def get(self, key: str) -> T | None:
        """Wait for the value that `look_up` returns for the key, None if it returns none.

        Raises the exception that `look_up` raised.
        """
        return self.start(key).get()

    def start(self, key: str) -> AsyncResult[T | None]:
        """Queue the key, unless it is already queued or being looked up."""
        result = self._pending.get(key)
        if result is None:
            result = self._pending[key] = self._queue[key] = AsyncResult()
            if self._running < self._concurrency:
                self._running += 1
                gevent.spawn(self._run)
        return result

    def _run(self) -> None:
        try:
            while self._queue:
                batch = {key: self._queue.pop(key) for key in list(islice(self._queue, self._size))}
                self._run_batch(batch)
        finally:
            self._running -= 1

    def _run_batch(self, batch: Mapping[str, AsyncResult[T | None]]) -> None:
        error: BaseException = RuntimeError("the lookup was abandoned")
        values: Mapping[str, T] | None = None
        try:
            values = self._look_up(list(batch))
        except Exception as exception:  # noqa: BLE001 - raised again in each greenlet that waits
            error = exception
        finally:
            for key, result in batch.items():
                del self._pending[key]
                if values is None:
                    result.set_exception(error)
                else:
                    result.set(values.get(key))


def within(seconds: float, query: Callable[[], T]) -> T:
    """The result of a query. Raises DatabaseAway if there is none after that many seconds."""
    timeout = gevent.Timeout(seconds)
    try:
        with timeout:
            return query()
    except gevent.Timeout as error:
        if error is not timeout:
            raise
        raise DatabaseAway(f"no answer within {seconds:g} s") from error
