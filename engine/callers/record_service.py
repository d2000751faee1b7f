"""The recorder's side of the records: it answers the questions of all workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from engine.callers.batch_lookup import Batches, within
from engine.callers.records import (
    LOOKUP_SECONDS,
    PING,
    PING_SECONDS,
    SUMS_SECONDS,
    Callers,
    Records,
)
from engine.process.channel import Stream, receive_message, send_message
from engine.stores.database.failures import DatabaseError
from engine.values.caller import Caller

log = logging.getLogger("modelway")

_STORES = {
    **dict.fromkeys(("responses", "batches"), LOOKUP_SECONDS),
    **dict.fromkeys(("sums", "tokens"), SUMS_SECONDS),
}
"""The stores with the timeouts of their queries, in seconds."""


class RecordService:
    """The recorder's side: answers the questions of all workers, those of the same moment with one
    query."""

    def __init__(self, records: Records) -> None:
        look_up: Callable[[Sequence[str]], Callers] = records.look_up
        self._ping, self._records = records.ping, records
        self._batches: Batches[Caller | ValueError] = Batches(
            lambda digests: within(LOOKUP_SECONDS, partial(look_up, digests))
        )

    def serve(self, descriptor: int) -> None:
        """Answer the questions that come over a pair, until the worker closes it."""
        with (
            Stream(fileno=descriptor) as sock,
            suppress(EOFError, OSError),
        ):
            while True:
                send_message(sock, self._answer(receive_message(sock)))

    def _answer(self, question: tuple[Any, ...]) -> object:
        try:
            if question and question[0] in _STORES:
                store, name, *arguments = question
                method = getattr(getattr(self._records, store), name)
                return within(_STORES[store], partial(method, *arguments))
            return self._look_up(question) if question != PING else self._ping()
        except DatabaseError as error:
            return error
        except Exception:
            log.exception("the records cannot be asked")
            return DatabaseError("the look-up has failed, see the log of the recorder")

    def _look_up(self, digests: Sequence[str]) -> Callers:
        results = [(digest, self._batches.start(digest)) for digest in digests]
        callers = [(digest, result.get()) for digest, result in results]
        return {digest: _plain(caller) for digest, caller in callers if caller is not None}


def ping_within(query: Callable[[], object]) -> str:
    """Why a database does not answer a query in time, or ""."""
    try:
        within(PING_SECONDS, query)
    except DatabaseError as error:
        return str(error)
    return ""


def _plain(caller: Caller | ValueError) -> Caller | ValueError:
    """An error of another class might not be readable in the worker."""
    return ValueError(str(caller)) if isinstance(caller, ValueError) else caller
