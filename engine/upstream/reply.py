"""What becomes of an upstream's answer: relayed as it comes, or turned into an error of ours."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from engine.dialects import Dialect
from engine.errors import CallerGone, GatewayError
from engine.exchange import Exchange, Response
from engine.relay.headers import returned
from engine.relay.sse import Cleaner, EventTooLarge
from engine.upstream.client import Answer
from engine.upstream.failures import UpstreamFailure

_LARGEST_ERROR = 65_536
_OUR_FAULT = frozenset({401, 402, 403})
_OF_THE_BODY = ("content-", "etag", "last-modified", "digest", "repr-digest")
_STREAM_HEADERS = (("cache-control", "no-cache"), ("x-accel-buffering", "no"))


def reply(answer: Answer, exchange: Exchange, dialect: Dialect) -> Response:
    """The response for our caller. Raises GatewayError for an answer that cannot be theirs."""
    if answer.status in _OUR_FAULT and dialect.name != "plain":
        raise GatewayError(
            502,
            "upstream_credentials",
            f"The upstream refused this gateway's own credential ({answer.status}). "
            "The operator has to mend it; your token is not at fault.",
            retry=False,
        )
    if 300 <= answer.status < 400 and dialect.name != "plain":
        message = f"The upstream answered with a redirect ({answer.status}), which is not followed."
        raise GatewayError(502, "upstream_error", message, retry=False)
    headers = returned(answer.headers, dialect.hidden_headers)
    if answer.status >= 400 and dialect.name != "plain":
        return _refused(answer, exchange, dialect, headers)
    kind = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if kind == "text/event-stream" and not answer.header("content-encoding"):
        own = dict(_STREAM_HEADERS)
        headers = [pair for pair in headers if pair[0] not in own] + [*_STREAM_HEADERS]
        return Response(answer.status, headers, _events(answer, exchange, dialect))
    if answer.length is not None:
        headers.append(("content-length", str(answer.length)))
    return Response(answer.status, headers, _bytes(answer))


def failed(failure: UpstreamFailure) -> GatewayError:
    """An upstream that gave no answer, as the caller is told."""
    late = failure.kind.endswith("timeout")
    code = "upstream_timeout" if late else "upstream_unreachable"
    if failure.answered:
        code = "upstream_timeout" if late else "upstream_error"
    return GatewayError(504 if late else 502, code, f"{_sentence(failure.words)}.")


def _refused(
    answer: Answer, exchange: Exchange, dialect: Dialect, headers: list[tuple[str, str]]
) -> Response:
    """An error of the upstream: as it is when it is one of the dialect, else in its shape."""
    body = _whole(answer)
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    if not dialect.is_error(document):
        message = f"The upstream answered {answer.status}{_said(document)}."
        error = GatewayError(answer.status, "upstream_error", message)
        body = orjson.dumps(dialect.error(error, exchange.request_id))
        headers = [pair for pair in headers if not pair[0].startswith(_OF_THE_BODY)]
        headers.append(("content-type", "application/json"))
    headers.append(("content-length", str(len(body))))
    return Response(answer.status, headers, body)


def _whole(answer: Answer) -> bytes:
    """The body of an error, which is small; a larger one counts as none."""
    body = b""
    try:
        while data := answer.read():
            body += data
            if len(body) > _LARGEST_ERROR:
                return b""
    except UpstreamFailure:
        return b""
    return body


def _said(document: object) -> str:
    """The words of an error in some other shape, if they can be found."""
    for key in ("message", "detail", "error"):
        value = document.get(key) if isinstance(document, dict) else None
        if isinstance(value, str) and value:
            return f": {value[:500].rstrip('.')}"
    return ""


def _bytes(answer: Answer) -> Iterator[bytes]:
    try:
        while data := answer.read():
            yield data
    except UpstreamFailure as failure:
        raise CallerGone(failure.words) from failure


def _events(answer: Answer, exchange: Exchange, dialect: Dialect) -> Iterator[bytes]:
    """The stream's events, clean; when it breaks, the dialect's error event and a cut."""
    cleaner = Cleaner(names=dialect.event_names, comments=dialect.comments)
    try:
        while data := answer.read():
            events = cleaner.feed(data)
            if events:
                yield events
        rest = cleaner.rest()
        if rest:
            yield rest
    except (UpstreamFailure, EventTooLarge) as failure:
        error = GatewayError(502, "upstream_error", f"{_sentence(str(failure))}.")
        if isinstance(failure, UpstreamFailure):
            error = failed(failure)
        yield dialect.error_event(orjson.dumps(dialect.error(error, exchange.request_id)))
        raise CallerGone(str(failure)) from failure


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
