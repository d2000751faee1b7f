"""Errors of an upstream as answers: read, bounded, decoded and without our credentials.

An error may also come as the first event of a stream. The caller then gets the answer that the same
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

_LARGEST = 65_536
LARGEST_OF_OTHERS = 1_000_000
"""Bytes of an error of any other API that are looked at for our credentials."""

_OF_THE_BODY = ("content-", "etag", "last-modified", "digest", "repr-digest", "cache-control")

Headers = list[tuple[str, str]]


def vendor_error(
    result: AttemptResult, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """An error of the upstream: as it is when it is one of the dialect, else in its shape."""
    response, status = result.response, result.status
    assert response is not None
    if result.stream_error is not None:
        document = result.stream_error.document
        body = orjson.dumps(document)
        headers = _without_body(headers)
    else:
        body, document, headers = _read_error(result, response, headers)
    if not dialect.is_error(document):
        message = f"The upstream answered {status}{words_in(document)}."
        error = GatewayError(status, "upstream_error", message)
        body = orjson.dumps(dialect.error(error, exchange.request_id))
        headers = _without_body(headers)
    return Response(status, [*headers, ("content-length", str(len(body)))], body)


def other_error(
    result: AttemptResult, body: bytes, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """A whole answer of any other API that is no 2xx: as it came, unless it holds a credential of
    ours, or is encoded so that nobody can tell."""
    encoding = _encoding(headers)
    text = decode_body(encoding, body)
    if text is None:
        message = f"The upstream answered {result.status}; its body cannot be decoded."
        error = GatewayError(result.status, "upstream_error", message)
        body = orjson.dumps(dialect.error(error, exchange.request_id))
        headers = _without_body(headers)
    elif (clean := result.target.upstream.redaction.redact(text)) is not text:
        body = clean
        kept = ("content-type", "content-language", "content-location", "content-disposition")
        described = [pair for pair in headers if pair[0] in kept]
        headers = [pair for pair in headers if not pair[0].startswith(_OF_THE_BODY)] + described
    return Response(result.status, [*headers, ("content-length", str(len(body)))], body)


def read_body(response: UpstreamResponse, most: int, first: bytes = b"") -> tuple[bytes, bool]:
    """What comes of a body behind its `first` bytes, at least `most` of a longer one, and whether
    that is all of it."""
    pieces, size = [first], len(first)
    try:
        while size <= most:
            data = response.read()
            if not data:
                return b"".join(pieces), True
            pieces.append(data)
            size += len(data)
    except UpstreamFailure as failure:
        failure.without_traceback()
    return b"".join(pieces), False


def words_in(document: Any) -> str:
    """The words of an error in some other shape, if they can be found."""
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
    """The body of an error, which is small (a larger one counts as none), and its JSON."""
    body, whole = read_body(response, _LARGEST)
    text = decode_body(_encoding(headers), body) if whole else None
    body = result.target.upstream.redaction.redact(text or b"")
    headers = [pair for pair in headers if pair[0] != "content-encoding"]
    try:
        return body, orjson.loads(body), headers
    except orjson.JSONDecodeError:
        return body, None, headers


def _encoding(headers: Headers) -> str:
    return ", ".join(value for name, value in headers if name == "content-encoding")


def _without_body(headers: Headers) -> Headers:
    """Headers for a JSON body of ours in place of the upstream's."""
    kept = [pair for pair in headers if not pair[0].startswith(_OF_THE_BODY)]
    return [*kept, ("content-type", "application/json")]
