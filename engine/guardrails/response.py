"""The answer to a request before a guard: as a whole, or a stream in windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import orjson
from gevent import GreenletExit

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.usage import OutputMembers
from engine.exchange.exchange import Exchange, Response
from engine.exchange.interruption import interruption
from engine.exchange.push_stream import Pipeline, PushStream
from engine.exchange.record import Outcome
from engine.guardrails.contract import Window
from engine.guardrails.guard import Guard
from engine.guardrails.held_events import HeldEvents
from engine.guardrails.settings import RESPONSE
from engine.guardrails.texts import answer_texts
from engine.relay.response_headers import STALE_HEADERS
from engine.relay.whole_body import has_whole_body
from engine.values.content_coding import decode_body
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.json_document import JsonDocument
from engine.values.json_pointer import pointer
from engine.values.media_types import essence, is_json

MAX_ANSWER = 32_000_000
"""Bytes of an answer in one piece that can be judged."""

_TOO_LARGE = f"the answer has over {MAX_ANSWER} bytes"
_EVENTS = "text/event-stream"
_PARTIAL = 206
_COMMENTS = re.compile(rb"(?::[^\n]*\n+)+")
_WITHOUT_TEXTS = ("audio/", "image/", "video/", "application/octet-stream", "application/pdf")
"""The beginnings of the types of answers that have no texts."""


def judge_response(guard: Guard, exchange: Exchange, response: Response) -> Response:
    """The response after the guard. Answers without texts, such as audio, pass. Raises GatewayError
    403 and 503."""
    headers = dict(response.headers)
    kind, encoding = headers.get("content-type", ""), headers.get("content-encoding", "")
    media_type = essence(kind)
    if not has_whole_body(exchange.method, response.status) and response.status != _PARTIAL:
        return response
    if media_type.startswith(_WITHOUT_TEXTS) or response.body == b"":
        return response
    if response.status == _PARTIAL:
        guard.fail(exchange, RESPONSE, "a part of an answer cannot be judged")
        return response
    if media_type != _EVENTS and (is_json(kind) or media_type.startswith("text/")):
        return _whole(guard, exchange, response, encoding)
    if media_type != _EVENTS:
        guard.fail(exchange, RESPONSE, f"'{media_type}' cannot be read")
        return response
    if encoding not in ("", "identity"):
        guard.fail(exchange, RESPONSE, "the stream is encoded")
        return response
    source = [response.body] if isinstance(response.body, bytes) else response.body
    events = _Windows(guard, exchange, _output(exchange)).events(source)
    response.headers = [pair for pair in response.headers if pair[0] not in STALE_HEADERS]
    response.body = PushStream(events, Pipeline())
    return response


def _dialect(exchange: Exchange) -> Dialect:
    return dialects.get(exchange.dialect.name)


def _output(exchange: Exchange) -> OutputMembers | None:
    meter = _dialect(exchange).meter
    return None if meter is None else meter.output


def _whole(guard: Guard, exchange: Exchange, response: Response, encoding: str) -> Response:
    """Judge an answer in one piece; one that is only reported is not held."""
    if guard.settings.reports and not isinstance(response.body, bytes):
        response.body = _observe(guard, exchange, response.body, encoding)
        return response
    if isinstance(response.body, bytes):
        body = response.body
    else:
        pieces = iter(response.body)
        body = _collect(pieces)
        if len(body) > MAX_ANSWER:
            guard.fail(exchange, RESPONSE, _TOO_LARGE)
            response.body = chain([body], pieces)
            return response
    response.body = body
    new_body = _judge_body(guard, exchange, body, encoding)
    if new_body is not None:
        response.headers = [pair for pair in response.headers if pair[0] not in STALE_HEADERS]
        response.body = new_body
    return response


def _judge_body(guard: Guard, exchange: Exchange, body: bytes, encoding: str) -> bytes | None:
    """An answer after the guard, None for no change."""
    if len(body) > MAX_ANSWER:
        guard.fail(exchange, RESPONSE, _TOO_LARGE)
        return None
    text = decode_body(encoding, body)
    if text is None:
        guard.fail(exchange, RESPONSE, f"its Content-Encoding '{encoding}' cannot be decoded")
        return None
    try:
        document = JsonDocument.parse(text)
    except orjson.JSONDecodeError:
        document = JsonDocument(b"", None)
    if document.text:
        return _judge_json(guard, exchange, document)
    plain = text.decode("utf-8", "replace")
    changes = guard.judge(exchange, RESPONSE, {"": plain} if plain else {})
    return changes[""].encode() if changes else None


def _judge_json(guard: Guard, exchange: Exchange, document: JsonDocument) -> bytes | None:
    texts = answer_texts(document.value, _output(exchange))
    paths = {pointer(map(str, path)): path for path in texts}
    by_pointer = {place: texts[path] for place, path in paths.items()}
    changes = guard.judge(exchange, RESPONSE, by_pointer)
    for place, new in changes.items():
        document.replace(paths[place], orjson.dumps(new))
    return document.text if changes else None


def _collect(pieces: Iterator[bytes]) -> bytes:
    """A body that arrives in pieces, up to MAX_ANSWER and the piece behind it."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_ANSWER:
            break
    return bytes(body)


def _observe(
    guard: Guard, exchange: Exchange, pieces: Iterable[bytes], encoding: str
) -> Iterator[bytes]:
    """The pieces as they arrive; the whole is reported at its end."""
    held = []
    size = 0
    for piece in pieces:
        if size <= MAX_ANSWER:
            held.append(piece)
            size += len(piece)
        yield piece
    _judge_body(guard, exchange, b"".join(held), encoding)


class _Windows:
    """The events of one stream, judged in windows."""

    def __init__(self, guard: Guard, exchange: Exchange, output: OutputMembers | None) -> None:
        self._guard = guard
        self._exchange = exchange
        self._held = HeldEvents(output)
        self._number = 0
        self._heartbeat = _dialect(exchange).heartbeat

    def events(self, source: Iterable[bytes]) -> Iterator[bytes]:
        """The events to send. Raises AbortConnection behind the event of an error for what is
        blocked."""
        pieces = iter(source)
        try:
            yield from self._release(pieces)
        except GatewayError as error:
            yield self._error_event(error, Outcome.REFUSED)
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, error.message) from error
        except GreenletExit as cause:
            end = interruption(cause)
            yield self._error_event(end.error, end.outcome)
            raise AbortConnection(end.reason) from None
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _release(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The events that may pass; those of a guard that only reports pass at once."""
        reports = self._guard.settings.reports
        broke_off: AbortConnection | None = None
        try:
            for piece in pieces:
                events = self._feed(piece)
                if piece if reports else events:
                    yield piece if reports else events
        except AbortConnection as error:  # its error event is held
            broke_off = error
        events = self._judge_window(last=True)
        if events and not reports:
            yield events
        if broke_off is not None:
            raise broke_off

    def _feed(self, piece: bytes) -> bytes:
        if piece == self._heartbeat or _COMMENTS.fullmatch(piece) is not None:
            return piece  # it says nothing, and shows that the connection lives
        textless = self._held.add(piece)
        held = self._held
        if held.characters >= self._guard.settings.window or held.is_full or held.is_unread:
            return textless + self._judge_window(last=False)
        return textless

    def _judge_window(self, *, last: bool) -> bytes:
        """The events of a window after the guard. Raises GatewayError."""
        if self._held.is_unread:
            self._guard.fail(self._exchange, RESPONSE, "an event of the stream is not JSON")
        texts: Mapping[str, str] = self._held.texts()
        overlap = 0 if last or self._held.is_full else self._guard.settings.overlap
        if texts:
            window = Window(self._number, last)
            self._number += 1
            changes = self._guard.judge(self._exchange, RESPONSE, texts, window)
            self._held.replace(changes, overlap)
        return self._held.release(overlap)

    def _error_event(self, error: GatewayError, outcome: Outcome) -> bytes:
        """The event of an error that ends the stream."""
        exchange = self._exchange
        exchange.record.outcome, exchange.record.code = outcome, error.code
        dialect = _dialect(exchange)
        return dialect.error_event(orjson.dumps(dialect.error(error, exchange.request_id)))
