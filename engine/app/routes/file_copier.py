"""Copies a file of a caller to another upstream (`file_calls.py`)."""

from __future__ import annotations

import time
from functools import partial

import gevent

from engine.app.routes.file_calls import CannotCopy, FileCalls
from engine.config.objects import FileRules
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Holder
from engine.exchange.spooled_body import spool
from engine.objects.file_copies import FileCopies
from engine.objects.id_opener import holder_name
from engine.objects.sealed_ids import Identity
from engine.values.errors import GatewayError


class FileCopier:
    """Copies files by `calls`, and remembers `copies`."""

    def __init__(self, calls: FileCalls, copies: FileCopies, rules: FileRules) -> None:
        self._calls, self._copies, self._rules = calls, copies, rules

    def copy(self, exchange: Exchange, sealed: str, identity: Identity, to: Holder) -> str:
        """The sealed id of a file's copy. Raises GatewayError: 400 for a file that cannot be
        copied, 504 if it takes too long."""
        limit, start = gevent.Timeout(self._rules.timeout), time.monotonic()
        try:
            with limit:
                make = partial(self._make, exchange, sealed, identity.holder, to)
                return self._copies.copy(identity, to, make)
        except CannotCopy as error:
            places = holder_name(identity.holder), holder_name(to)
            message = "The file of this request lives at {}, and cannot be copied to {}: {}"
            raise GatewayError(400, "file_not_copied", message.format(*places, error)) from error
        except gevent.Timeout as timeout:
            if timeout is not limit:
                raise
            message = (
                f"The file of this request lives at {holder_name(identity.holder)}, and was not "
                f"copied to {holder_name(to)} within {self._rules.timeout:g} seconds."
            )
            raise GatewayError(504, "file_copy_timeout", message) from timeout
        finally:
            exchange.record.wait_time += time.monotonic() - start

    def forget(self, identity: Identity, to: Holder) -> None:
        """Forget a copy, which may not be there any more."""
        self._copies.forget(identity, to)

    def _make(
        self, exchange: Exchange, sealed: str, source: Holder, to: Holder
    ) -> tuple[str, float]:
        """Copy a file. Raises CannotCopy and GatewayError."""
        calls, limit = self._calls, self._rules.max_size
        lifetime = calls.lifetime(to)
        facts = calls.describe(exchange, sealed, source)
        if facts.size > limit:
            raise CannotCopy(f"it has {facts.size} bytes, more than {limit}.")
        body = spool(calls.content(exchange, sealed, source, limit))
        try:
            copy = calls.upload(exchange, facts._replace(size=body.size), body, to)
        finally:
            body.close()
        return copy, self._rules.expires if lifetime is None else min(self._rules.expires, lifetime)
