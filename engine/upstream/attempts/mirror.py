"""Copies of requests that go to another target as well: `mirror` of a model. Their answers are
thrown away.

The law: a copy never delays or changes the request. It is sent in the background, without retries
at the targets of the request, with a record of its own, and counts against no limit of the caller.
What has no room is dropped: more copies at one time than `max_in_flight`, more bytes than MAX_HELD,
a body that is not in memory. Which requests are copied is decided by a hash of their ids: the same
id, the same decision, on every machine.

Only operations without side effects are copied: those that have a task for a model, but for
responses, which their server stores; others if the config names them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b

import gevent

from engine.config.model_operation import ModelOperation
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import Exchange, Handler, Response, Stage, new_request_id
from engine.exchange.requested_model import RequestedModel
from engine.process.log_throttle import LogThrottle
from engine.upstream.models.model_catalog import ServedMirror, ServedModel
from engine.upstream.targets.target import Target
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, GatewayError

MAX_HELD = 32_000_000
"""Bytes of the bodies of copies at one time in a worker."""

SENT, DROPPED, FAILED = "sent", "dropped", "failed"

_STORED = "responses"
_SHARES = 1_000_000
_log = LogThrottle(level=logging.WARNING)

Within = Callable[[ServedModel, Caller | None], ServedModel]
"""The model with the targets in the regions that are required. Raises GatewayError."""


def is_copied(operation: ModelOperation) -> bool:
    """Whether an operation is known to have no side effects."""
    return bool(operation.task) and not operation.counts and operation.language != _STORED


class Mirrors:
    """The copies of one worker. `counts` are those of each model by their results."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._in_flight: Counter[str] = Counter()
        self._held = 0

    def stage(self, send: Handler, operation: ModelOperation, within: Within | None) -> Stage:
        """A stage that sends copies of some requests by `send`, a handler with records."""
        by_itself = is_copied(operation)

        def mirror(exchange: Exchange, following: Handler) -> Response:
            target: ServedMirror | None = exchange.model.mirror
            if (
                target is not None
                and is_chosen(exchange.request_id, target.percent)
                and (by_itself or target.operations.match(exchange.operation))
            ):
                self._offer(exchange, target, send, within)
            return following(exchange)

        return mirror

    def _offer(
        self, exchange: Exchange, mirror: ServedMirror, send: Handler, within: Within | None
    ) -> None:
        """Send a copy of a request in the background, if there is room."""
        name, size = mirror.model.name, exchange.body.size
        has_room = self._in_flight[name] < mirror.max_in_flight and self._held + size <= MAX_HELD
        if not has_room or exchange.body.in_memory is None:
            self.counts[name, DROPPED] += 1
            return
        try:
            model = mirror.model if within is None else within(mirror.model, exchange.caller)
            copied = copy_of(exchange, model)
        except GatewayError:
            copied = None
        if copied is None:  # no target has the operation, in the region that is required
            self.counts[name, DROPPED] += 1
            return
        self._in_flight[name] += 1
        self._held += size
        gevent.spawn(self._run, copied, name, send)

    def _run(self, exchange: Exchange, name: str, send: Handler) -> None:
        result = FAILED
        try:
            response = send(exchange)
            for _ in [] if isinstance(response.body, bytes) else response.body:
                pass
            result = SENT if response.status < 400 else FAILED
        except AbortConnection as error:  # the answer broke off
            _log.log("a copy for model '%s' failed: %s", name, error)
        finally:
            self.counts[name, result] += 1
            self._in_flight[name] -= 1
            self._held -= exchange.body.size
            exchange.end()


def is_chosen(request_id: str, percent: float) -> bool:
    """Whether a request is among `percent` of all."""
    number = int.from_bytes(blake2b(request_id.encode("utf-8", "replace"), digest_size=8).digest())
    return number % _SHARES < percent * (_SHARES / 100)


def copy_of(exchange: Exchange, model: ServedModel) -> Exchange | None:
    """A copy of a request for the targets of a mirror, without a caller, and with an id and a
    record of its own; None if no target has the operation."""
    copied = Exchange(
        *(exchange.method, exchange.path, exchange.query, exchange.environ, exchange.dialect),
        *(new_request_id(), exchange.mount, exchange.variables),
        connection=InternalConnection(b"", InternalCaller(None)),
    )
    copied.operation, copied.edits = exchange.operation, exchange.edits
    copied.body, copied.content = exchange.body, exchange.content
    requested = exchange.model
    copied.model = RequestedModel(requested.name, requested.span, requested.copies)
    copied.model.count_tokens = requested.count_tokens
    copied.record.requested_entry = exchange.record.requested_entry
    copied.record.is_mirror = True
    targets: Sequence[Target] = model.order(copied) if model.groups else ()
    copied.model.targets = targets
    return copied if targets else None
