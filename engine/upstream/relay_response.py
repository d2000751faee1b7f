"""The response for the caller, made of the upstream's: relayed, or turned into an error."""

from __future__ import annotations

import time
from typing import Any

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Response
from engine.exchange.push_stream import PushStream
from engine.exchange.record import Outcome
from engine.upstream.attempt import AttemptResult
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.error_response import (
    MAX_OTHER_ERROR,
    error_message,
    other_error,
    read_body,
    vendor_error,
)
from engine.upstream.first_content import FirstContent
from engine.upstream.gateway_errors import credentials_refused, error_of_failure
from engine.upstream.relay_body import EventStream, relay_bytes
from engine.values.errors import GatewayError

_STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def relay(
    result: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    watcher: DisconnectWatcher,
) -> Response:
    """The response of a target, with `headers`, those of its headers that pass. Raises GatewayError
    for one that cannot be relayed."""
    response, content = result.response, result.content
    assert response is not None
    if 300 <= response.status < 400 and not dialect.transparent:
        message = (
            f"The upstream answered with a redirect ({response.status}), which is not followed."
        )
        raise GatewayError(502, "upstream_error", message, retry=False)
    bodiless = exchange.method == "HEAD" or response.status in (204, 304)
    if bodiless:
        exchange.record.outcome = Outcome.COMPLETE  # there is no body that could break off
    if response.status == 101:
        return Response(101, headers)
    if content is None and not dialect.transparent:
        return vendor_error(result, headers, exchange, dialect)
    content = content or FirstContent(b"")
    if response.status >= 300 and not bodiless:
        body, complete = read_body(response, MAX_OTHER_ERROR, content.first)
        if complete:
            return other_error(result, body, headers, exchange, dialect)
        content = FirstContent(body)
    if content.cleaner is not None:
        headers = [pair for pair in headers if pair[0] not in _STREAM_HEADERS]
        headers += _STREAM_HEADERS.items()
        stream = EventStream(result, response, content.cleaner, exchange, dialect, watcher)
        events = stream.events(content.first)
        return Response(response.status, headers, PushStream(events, stream.pipeline))
    if response.is_complete and not bodiless:
        record = exchange.record
        record.outcome, record.response_end = Outcome.COMPLETE, time.monotonic()
        return Response(response.status, headers, content.first)
    if response.length is not None:
        headers.append(("content-length", str(response.length)))
    return Response(
        response.status, headers, relay_bytes(response, content.first, exchange, watcher)
    )


def refuse(
    result: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    retried: bool,
) -> Response:
    """The response, or GatewayError, for the failure of the last attempt.

    `retried`: the gateway has retried, so the caller's SDK need not.
    """
    again = False if retried else None
    if result.error is not None:
        raise error_of_failure(result.error, again)
    if result.failure == "credential":
        raise credentials_refused(f" ({result.status})")
    if result.failure == "error" and result.stream_error is None:
        raise GatewayError(502, "upstream_error", _failure_message(result.document), retry=again)
    if retried:
        headers = [pair for pair in headers if pair[0] != "x-should-retry"]
        headers.append(("x-should-retry", "false"))
    return vendor_error(result, headers, exchange, dialect)


def _failure_message(document: Any) -> str:
    """The message for an error event of an unknown kind."""
    inner = document.get("response", document) if isinstance(document, dict) else document
    return f"The upstream failed{error_message(inner)}."
