"""The error with which a stream ends for the caller, in the caller's dialect."""

from __future__ import annotations

from typing import Any

import orjson

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange
from engine.exchange.outcome import Outcome
from engine.relay.sse import NotAnEvent
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.error_response import error_of_failure, failure_message, sentence
from engine.upstream.responses.stream_judge import ReportedError, error_class
from engine.values.errors import EventTooLarge, GatewayError

Failure = UpstreamFailure | EventTooLarge | NotAnEvent | ReportedError


def last_event(
    failure: Failure, result: AttemptResult, exchange: Exchange, dialect: Dialect
) -> bytes:
    """The last event of a stream that failed, which counts for the breaker unless the upstream
    reports that the request is at fault."""
    exchange.record.outcome = Outcome.UPSTREAM_CUT
    document = _reported(failure, dialect)
    if document is None:
        result.broke_off(exchange.record)
        error = _error_of(failure, exchange, dialect)
        return dialect.last_error(exchange.path, error, exchange.model.name)
    result.broke_off(exchange.record, error_class(dialect, document))
    if isinstance(failure, ReportedError) and failure.event:
        return failure.event
    redaction = result.target.upstream.redaction
    body = redaction.redact(_in_dialect(document, exchange, dialect))
    return dialect.last_error(exchange.path, body, exchange.model.name)


def _reported(failure: Failure, dialect: Dialect) -> Any:
    """The JSON of the error that the upstream has reported, None if it has not."""
    if isinstance(failure, ReportedError | NotAnEvent):
        document = failure.document
        return document if dialect.is_error_event(document) else None
    return None


def _in_dialect(document: Any, exchange: Exchange, dialect: Dialect) -> bytes:
    """The JSON of an error event, in the form of the dialect."""
    error_event = dialect.stream_error(document)
    document = document if error_event is None else error_event.document
    if dialect.is_error(document):
        return orjson.dumps(document)
    error = GatewayError(502, "upstream_error", failure_message(document))
    return orjson.dumps(dialect.error(error, exchange.request_id))


def _error_of(failure: Failure, exchange: Exchange, dialect: Dialect) -> bytes:
    """The error that ends a stream in which the upstream has reported none."""
    if isinstance(failure, UpstreamFailure):
        error = error_of_failure(failure.without_traceback())
    else:
        error = GatewayError(502, "upstream_error", f"{sentence(str(failure))}.")
    return orjson.dumps(dialect.error(error, exchange.request_id))
