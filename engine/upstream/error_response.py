"""Error responses of an upstream: read up to a bound, decoded, and redacted.

An error may also be the first event of a stream. The caller then gets the response that the same
error has without a stream (`AttemptResult.stream_error`).
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Response
from engine.upstream.attempt import AttemptResult
from engine.upstream.client.client import UpstreamResponse
from engine.upstream.client.failures import UpstreamFailure
from engine.values.content_coding import decode_body
from engine.values.errors import GatewayError

_MAX_ERROR = 65_536
MAX_OTHER_ERROR = 1_000_000
"""Bytes of an error of a transparent dialect that are searched for our credentials."""

_BODY_HEADERS = ("content-", "etag", "last-modified", "digest", "repr-digest", "cache-control")
_KEPT_WHEN_REDACTED = (
    *("content-type", "content-language"),
    *("content-location", "content-disposition"),
)

Headers = list[tuple[str, str]]


def vendor_error(
    result: AttemptResult, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """An error of the upstream: unchanged if it is one of the dialect, else in its form."""
    response, status = result.response, result.status
    assert response is not None
    if result.stream_error is not None:
        document = result.stream_error.document
        body = orjson.dumps(document)
        headers = _without_body(headers)
    else:
        body, document, headers = _read_error(result, response, headers)
    if not dialect.is_error(document):
        message = f"The upstream answered {status}{error_message(document)}."
        error = GatewayError(status, "upstream_error", message)
        body = orjson.dumps(dialect.error(error, exchange.request_id))
        headers = _without_body(headers)
    return Response(status, [*headers, ("content-length", str(len(body)))], body)


def other_error(
    result: AttemptResult, body: bytes, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """A complete response of a transparent dialect that is no 2xx: unchanged, unless it holds a
    credential of ours, or has an encoding that cannot be searched for one."""
    encoding = _encoding(headers)
    text = decode_body(encoding, body)
    if text is None:
        message = f"The upstream answered {result.status}; its body cannot be decoded."
        error = GatewayError(result.status, "upstream_error", message)
        body = orjson.dumps(dialect.error(error, exchange.request_id))
        headers = _without_body(headers)
    elif (clean := result.target.upstream.redaction.redact(text)) is not text:
        body = clean
        still_true = [pair for pair in headers if pair[0] in _KEPT_WHEN_REDACTED]
        headers = [pair for pair in headers if not pair[0].startswith(_BODY_HEADERS)] + still_true
    return Response(result.status, [*headers, ("content-length", str(len(body)))], body)


def read_body(response: UpstreamResponse, limit: int, first: bytes = b"") -> tuple[bytes, bool]:
    """A body that begins with `first`, and whether it is complete. Of a body longer than `limit`
    at least that much is read."""
    pieces, size = [first], len(first)
    try:
        while size <= limit:
            data = response.read()
            if not data:
                return b"".join(pieces), True
            pieces.append(data)
            size += len(data)
    except UpstreamFailure as failure:
        failure.without_traceback()
    return b"".join(pieces), False


def error_message(document: Any) -> str:
    """The message of an error in another form, behind a colon; "" if there is none."""
    for key in ("message", "detail", "error"):
        value = document.get(key) if isinstance(document, dict) else None
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            return f": {value[:500].rstrip('.')}"
    return ""


def _read_error(
    result: AttemptResult, response: UpstreamResponse, headers: Headers
) -> tuple[bytes, Any, Headers]:
    """The body of an error and its JSON. A body over the limit counts as empty."""
    body, complete = read_body(response, _MAX_ERROR)
    text = decode_body(_encoding(headers), body) if complete else None
    body = result.target.upstream.redaction.redact(text or b"")
    headers = [pair for pair in headers if pair[0] != "content-encoding"]
    try:
        return body, orjson.loads(body), headers
    except orjson.JSONDecodeError:
        return body, None, headers


def _encoding(headers: Headers) -> str:
    return ", ".join(value for name, value in headers if name == "content-encoding")


def _without_body(headers: Headers) -> Headers:
    """The headers for a JSON body of ours in place of the upstream's."""
    other_headers = [pair for pair in headers if not pair[0].startswith(_BODY_HEADERS)]
    return [*other_headers, ("content-type", "application/json")]
