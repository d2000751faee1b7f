"""Copies of files at other upstreams, which are remembered: in the records, so that all workers and
gateways copy a file once, or else by each worker for itself.

The records keep a copy as they keep stored responses: encrypted, under a hash, until it expires. A
claim in its place says that somebody is copying; who finds one waits for the copy.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable

import gevent
from gevent.lock import RLock

from engine.exchange.opened_ids import Holder
from engine.exchange.stage_services import ResponseStore
from engine.objects.sealed_ids import Identity, Sealer
from engine.stores.database.failures import DatabaseError
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

FILE = "file"
"""The kind of files in documents."""

_PURPOSE = b"modelway copy of a file 1"
_CLAIM = b"\0"
"""The first byte of a claim; the id of a copy has none."""
_PAUSE = 0.2
"""Seconds between two looks for a copy that somebody else makes."""
_REMEMBERED = 10_000

Make = Callable[[], tuple[str, float]]
"""Makes a copy. Returns its sealed id, and for how many seconds it is there."""


class FileCopies:
    """Remembers copies in a `store`, None for this worker alone. A claim ends after `timeout`
    seconds, in which a copy is made."""

    def __init__(
        self,
        store: ResponseStore | None,
        sealer: Sealer,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._sealer = store, sealer
        self._timeout, self._clock = timeout, clock
        self._copies: dict[bytes, tuple[str, float]] = {}
        self._locks: dict[bytes, RLock] = {}

    def copy(self, identity: Identity, holder: Holder, make: Make) -> str:
        """The sealed id of a file's copy at a holder, which `make` makes if there is none. Waits
        for one that somebody else is making. Raises what `make` raises, and GatewayError 503 if
        the records cannot be asked."""
        key = copy_key(identity, holder)
        lock = self._locks.setdefault(key, RLock())
        try:
            with lock:
                copy = self._own(key)
                if copy is None:
                    copy = self._shared(key, make)
                return copy
        except DatabaseError as error:
            log.warning("the records of copied files cannot be asked: %s", error)
            message = "Files cannot be copied at the moment. Try again later."
            headers = [("retry-after", "1")]
            raise GatewayError(503, "store_unavailable", message, headers=headers) from error
        finally:
            if self._locks.get(key) is lock and not lock.locked():
                del self._locks[key]

    def forget(self, identity: Identity, holder: Holder) -> None:
        """Forget a copy, which may not be there any more."""
        key = copy_key(identity, holder)
        self._copies.pop(key, None)
        if self._store is not None:
            try:
                self._store.remove(key)
            except DatabaseError as error:
                log.warning("a copy of a file is not forgotten: %s", error)

    def _own(self, key: bytes) -> str | None:
        """The copy that this worker knows."""
        copy, expires = self._copies.get(key, ("", 0.0))
        return copy if expires > self._clock() else None

    def _remember(self, key: bytes, copy: str, expires: float) -> None:
        self._copies[key] = copy, expires
        if len(self._copies) > _REMEMBERED:
            del self._copies[next(iter(self._copies))]

    def _shared(self, key: bytes, make: Make) -> str:
        """The copy that the records have, or a new one, for all."""
        store = self._store
        if store is None:
            copy, seconds = make()
            self._remember(key, copy, self._clock() + seconds)
            return copy
        claim = self._sealer.encrypt(_CLAIM + os.urandom(16), key, _PURPOSE)
        while not store.claim(key, self._clock() + self._timeout, claim, self._clock()):
            data = store.get(key, self._clock())
            plain = None if data is None else self._sealer.decrypt(data, key, _PURPOSE)
            if plain is not None and not plain.startswith(_CLAIM):
                copy = plain.decode()
                self._remember(key, copy, self._clock() + self._timeout)
                return copy
            gevent.sleep(_PAUSE)  # it is being made; a claim of a lost key ends by itself
        try:
            copy, seconds = make()
        except BaseException:
            store.remove(key)
            raise
        expires = self._clock() + seconds
        store.put(key, expires, self._sealer.encrypt(copy.encode(), key, _PURPOSE))
        self._remember(key, copy, expires)
        return copy


def copy_key(identity: Identity, holder: Holder) -> bytes:
    """The key of an owner's copy of a file at a holder: of nobody else's, even of the same file."""
    source = identity.holder
    parts = (
        *(source.upstream.encode(), bytes((source.credential,)), identity.vendor_id.encode()),
        *(holder.upstream.encode(), bytes((holder.credential,))),
    )
    return hashlib.blake2b(b"\0".join(parts), key=identity.owner, digest_size=24).digest()
