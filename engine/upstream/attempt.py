"""One try of one target: the request in its own words, with our credential, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from engine.config.model import Credential
from engine.dialects import Dialect, StreamError
from engine.exchange.exchange import Exchange
from engine.relay.headers import Forwarded
from engine.spec.expression import Expression
from engine.upstream import retry
from engine.upstream.client.client import UpstreamResponse
from engine.upstream.client.failures import ProtocolFailure, UpstreamFailure
from engine.upstream.credentials import APPLY
from engine.upstream.first_content import (
    ErrorFirst,
    FirstContent,
    is_event_stream,
    read_first_content,
)
from engine.upstream.request import build_request
from engine.upstream.target import Target
from engine.values.errors import EventTooLarge


@dataclass(slots=True)
class AttemptResult:
    """What came of a try: `failure` is its class (see `retry`), "" when it is to be relayed.

    `path` is what was asked for. `response` is there when the upstream answered, `content` when its
    body can be relayed;
    `error` is what cut the try short; `document` what an error event said, `stream_error` that as
    the dialect understands it.
    """

    target: Target
    failure: str = ""
    response: UpstreamResponse | None = None
    content: FirstContent | None = None
    error: UpstreamFailure | None = None
    document: Any = None
    stream_error: StreamError | None = None
    path: str = "/"

    @property
    def status(self) -> int:
        """The status of the upstream's answer, 0 when there is none. For an error that began a
        stream it is the one that the error has without a stream."""
        if self.stream_error is not None:
            return self.stream_error.status
        return self.response.status if self.response is not None else 0

    @property
    def reached(self) -> bool:
        """Whether the upstream was sent anything of the request."""
        return self.response is not None or (self.error is not None and self.error.sent)

    def close(self) -> None:
        """Let go of the upstream's connection."""
        if self.response is not None:
            self.response.close()


def attempt(
    target: Target,
    credential: Credential | None,
    headers: Forwarded,
    expression: Expression | None,
    exchange: Exchange,
    dialect: Dialect,
    left: float,
) -> AttemptResult:
    """Ask a target, with `left` seconds for all of it, and wait for the first content."""
    result = AttemptResult(target)
    try:
        request = build_request(target, exchange, headers, expression)
        if credential is not None:
            APPLY[credential.kind](credential, request)
        result.path = request.path
        result.response = target.upstream.client.send(
            request.method, request.target, request.headers, request.body, left
        )
        result.failure = "" if dialect.transparent else retry.status_class(result.response.status)
        if exchange.upgrade is not None and result.response.status < 300:
            exchange.upgrade.check(result.response)
        elif result.response.status < 400:
            beat = target.upstream.heartbeat if dialect.heartbeat else None
            result.content = read_first_content(result.response, dialect, beat)
    except ErrorFirst as error:
        clean = target.upstream.redaction.redact(orjson.dumps(error.document))
        result.document = orjson.loads(clean)
        result.stream_error = dialect.stream_error(result.document)
        result.failure = retry.error_event_class(result.stream_error and result.stream_error.status)
    except EventTooLarge as error:
        result.failure, result.error = "reset", ProtocolFailure(str(error))
    except UpstreamFailure as failure:
        stream = (
            result.response is not None
            and is_event_stream(result.response)
            and not dialect.transparent
        )
        result.failure = retry.failure_class(failure.kind, stream=stream) or "fatal"
        result.error = failure.without_traceback()
    except BaseException as raised:
        result.close()
        # Whoever leaves is given nothing back: the upstream may be at work on it.
        exchange.record.reached_upstream |= not isinstance(raised, Exception)
        raise
    if result.error is not None or result.document is not None:
        result.close()
    return result
