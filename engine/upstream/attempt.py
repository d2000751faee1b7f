"""One try of one target: the request in its own words, with our credential, and what came of it."""

from __future__ import annotations

import copy
import logging
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
from engine.upstream.first_content import (
    ErrorFirst,
    FirstContent,
    is_event_stream,
    read_first_content,
)
from engine.upstream.request_path import upstream_path
from engine.upstream.target import (
    Target,
    Upstream,
    changed,
    with_credential,
)
from engine.values.errors import EventTooLarge, GatewayError

USER_AGENT = "modelway"
log = logging.getLogger("modelway")


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
        result.response = _send(result, credential, headers, expression, exchange, left)
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


def _send(
    result: AttemptResult,
    credential: Credential | None,
    headers: Forwarded,
    expression: Expression | None,
    exchange: Exchange,
    left: float,
) -> UpstreamResponse:
    target, sent = result.target, exchange
    upstream = target.upstream
    if expression is not None:
        sent = _renamed(exchange, expression, target.model, upstream.ask_usage)
    fields = [
        *headers.pick(sent.environ),
        ("accept-encoding", "identity"),
        ("user-agent", USER_AGENT),
        ("x-request-id", exchange.request_id),
    ]
    if exchange.trace is not None:
        fields = exchange.trace.sent(fields)
    fields = changed(fields, upstream.changes)
    if exchange.upgrade is not None:
        fields += exchange.upgrade.headers
    query = with_credential(credential, sent.query, fields)
    result.path = path = _path(upstream, sent)
    body = sent.body if sent.body.size or sent.method != "GET" else None
    whole = body.whole if body is not None else None
    return upstream.client.send(
        sent.method,
        f"{path}?{query}" if query else path,
        fields,
        body if whole is None else whole,
        left,
    )


def _path(upstream: Upstream, exchange: Exchange) -> str:
    """The path to ask for. Raises GatewayError 500 for one that is not below the base path."""
    try:
        return upstream_path(upstream.client.base_path, exchange.mount, exchange.path)
    except ValueError as error:
        log.error(
            "request %s was not sent: its path is not below the base path of upstream '%s': %s",
            exchange.request_id,
            upstream.name,
            error,
        )
        message = "The request's path cannot be sent to the upstream."
        raise GatewayError(500, "internal_error", message, retry=False) from error


def _renamed(exchange: Exchange, expression: Expression, model: str, edited: bool) -> Exchange:
    """The exchange with the target's own name for the model, or with the default written in, and
    with our own changes to its body."""
    name = model or exchange.model
    named = expression.says(exchange, name)
    if named and not exchange.edits:
        return exchange
    renamed = copy.copy(exchange)
    renamed.edits = exchange.edits if edited else ()
    if not named:
        expression.replace(renamed, exchange.model_span, name)
    if named or expression.place != "body":
        repeats = () if named else exchange.model_copies
        written = [(s, e, orjson.dumps(before + name)) for s, e, before in repeats]
        if written or renamed.edits:
            renamed.body = exchange.body.with_replaced(*written, *renamed.edits)
    return renamed
