"""What an attempt at a target learned. The exchange gets it from the attempt that won, at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from engine.credentials.interface.credential import LiveCredential
from engine.dialects import StreamError
from engine.exchange.request_record import RUNNING, Attempt, RequestRecord
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.responses.first_content import FirstContent
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import OpenAttempt


class AttemptResult(Struct):
    """The result of an attempt: `failure` is its class (see `retry`), "" if the response is
    relayed.

    `path` is the path of the request, `dropped` are the fields that its translation dropped.
    `response` is set if the upstream sent one, `content` if its body can be relayed, `error` if the
    attempt broke off, `is_unusable` if the upstream will charge for an answer that is not in its
    format, so that the same question is not asked there again. `document` is the JSON of an error
    event, `stream_error` what the dialect reads in it. `cache_counted_twice` is as in Metering.
    `number` is that of the attempt among those of the request, `attempt` what its record has of it,
    `credential` that of the upstream with which it was sent.
    `open` reports to the observers of the target, None without observers.
    """

    target: Target
    credential: LiveCredential | None = None
    failure: str = ""
    response: IncomingResponse | None = None
    content: FirstContent | None = None
    error: UpstreamFailure | None = None
    document: Any = None
    stream_error: StreamError | None = None
    path: str = "/"
    dropped: Sequence[str] = ()
    is_unusable: bool = False
    cache_counted_twice: bool = False
    number: int = 1
    attempt: Attempt = RUNNING
    open: OpenAttempt | None = None

    @property
    def status(self) -> int:
        """The status of the upstream's response, 0 without one. For an error event at the start of
        a stream it is the status that the error has without a stream."""
        if self.stream_error is not None:
            return self.stream_error.status
        return self.response.status if self.response is not None else 0

    @property
    def reached(self) -> bool:
        """Whether a part of the request was sent to the upstream."""
        return self.response is not None or (self.error is not None and self.error.request_sent)

    def succeeded(self) -> None:
        """Record that the response is relayed."""
        self.target.state.breaker.succeeded()
        if self.open is not None and self.open.end is None:
            self.open.response = self.response
            self.open.answered()

    def broke_off(self, record: RequestRecord, failure: str = "reset") -> None:
        """Record that the response broke off after its first content, by the class of the failure:
        "" if the request is at fault."""
        now = time.monotonic()
        self.target.state.failed(failure, now)
        if failure:
            record.amend(self.attempt, failure, now)
        if self.open is not None and failure:
            self.open.failed(failure)

    def close(self) -> None:
        """Release the upstream's connection."""
        if self.response is not None:
            self.response.close()
        if self.open is not None:
            self.open.close()


def set_target(record: RequestRecord, target: Target, model: str) -> None:
    """Name the target of an attempt in the record of a request for `model`: of the last one that
    began, or of the one that won."""
    record.upstream = target.upstream.name
    record.upstream_model = target.model or model
    record.model = target.exact_entry or model
    record.served_entry = target.entry
