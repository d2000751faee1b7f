"""Something of an issuer that is fetched, cached and renewed: `CachedLoad`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import gevent
from gevent.event import AsyncResult

from engine.callers.jwt.refusal import KeysUnavailable

log = logging.getLogger("modelway")

MAX_AGE = 3_600.0
MIN_INTERVAL = 30.0
STALE_AGE = 86_400.0
_FIRST_INTERVAL = 1.0
"""Seconds between two attempts as long as there is no value."""

T = TypeVar("T")


class CachedLoad(Generic[T]):
    """A value that `load` fetches: again when it is older than `MAX_AGE`, and once for all who wait
    for it. While `load` raises KeysUnavailable, the last value is used for `STALE_AGE`. `version`
    changes with the value, `name` says in the log what it is."""

    def __init__(
        self, name: str, load: Callable[[], T], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._load = load
        self._clock = clock
        self._loaded = self._tried = float("-inf")
        self._pending: AsyncResult[None] | None = None
        self._error = ""
        self.value: T | None = None
        self.version = 0

    def get(self) -> T:
        """The value. Raises KeysUnavailable without one that may be used."""
        self.renew()
        assert self.value is not None
        return self.value

    def renew(self) -> None:
        """Fetch an old value again, in the background while it may be used. Raises KeysUnavailable
        without one that may be used."""
        if self._clock() - self._loaded <= MAX_AGE:
            return
        pending = self._refresh() if self._may_try() else None
        if not self._is_usable():
            if pending is not None:
                pending.get()
            if not self._is_usable():
                raise KeysUnavailable(self._error or "they are being fetched")

    def reload(self) -> bool:
        """Fetch the value now, and wait; False if the last attempt is too recent."""
        if not self._may_try():
            return False
        self._refresh().get()
        return True

    def _is_usable(self) -> bool:
        return self._clock() - self._loaded <= MAX_AGE + STALE_AGE

    def _may_try(self) -> bool:
        interval = MIN_INTERVAL if self._is_usable() else _FIRST_INTERVAL
        return self._pending is not None or self._clock() - self._tried >= interval

    def _refresh(self) -> AsyncResult[None]:
        """Fetch the value, once for all who wait."""
        if self._pending is None:
            self._pending = AsyncResult()
            self._tried = self._clock()
            gevent.spawn(self._run, self._pending)
        return self._pending

    def _run(self, pending: AsyncResult[None]) -> None:
        try:
            value = self._load()
        except KeysUnavailable as error:
            self._error = str(error)
            log.warning("%s cannot be fetched: %s", self._name, error)
        except Exception:
            self._error = "what was fetched cannot be read"
            log.exception("%s cannot be fetched", self._name)
        else:
            if value != self.value:
                self.value = value
                self.version += 1
            self._loaded, self._error = self._clock(), ""
        finally:
            self._pending = None
            pending.set(None)
