"""The answer to a request before a guard: as a whole, or a stream in windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import orjson
from gevent import GreenletExit

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.usage import OutputMembers
from engine.exchange.exchange import Exchange, Response
from engine.exchange.outcome import Outcome, interruption
from engine.exchange.push_stream import MAX_PIECE, Pipeline, PushStream
from engine.guardrails.contract import Window
from engine.guardrails.guard import Guard
from engine.guardrails.held_events import HeldEvents
from engine.guardrails.settings import RESPONSE
from engine.guardrails.whole_answer import WholeAnswer
from engine.process.loop_turn import await_turn, paced
from engine.relay.response_headers import STALE_HEADERS
from engine.relay.whole_body import has_whole_body
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.event_json import LONG_EVENT
from engine.values.media_types import essence, is_json

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
        WholeAnswer(guard, exchange, encoding, _output(exchange)).judge(response)
        return response
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


def _whole_events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a stream, of which each ends with an event: a long one comes in several."""
    parts: list[bytes] = []
    for piece in paced(pieces):
        parts.append(piece)
        if len(piece) < MAX_PIECE or piece.endswith(b"\n\n"):
            yield parts[0] if len(parts) == 1 else b"".join(parts)
            parts = []
    if parts:
        yield b"".join(parts)


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
            for piece in _whole_events(pieces):
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
        if is_long := len(piece) > LONG_EVENT:
            await_turn()  # to join it and to parse it takes milliseconds each
        elif piece == self._heartbeat or _COMMENTS.fullmatch(piece) is not None:
            return piece  # it says nothing, and shows that the connection lives
        textless = self._held.add(piece)
        data = self._held
        if is_long:
            await_turn()
        if data.characters >= self._guard.settings.window or data.is_full or data.is_unread:
            return textless + self._judge_window(last=False)
        return textless

    def _judge_window(self, *, last: bool) -> bytes:
        """The events of a window after the guard. Raises GatewayError."""
        is_unread = self._held.is_unread
        if is_unread:
            self._guard.fail(self._exchange, RESPONSE, "an event of the stream is not JSON")
        texts: Mapping[str, str] = self._held.texts()
        # What is unread is not held again: each event behind it would be a window.
        has_overlap = not (last or is_unread or self._held.is_full)
        overlap = self._guard.settings.overlap if has_overlap else 0
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
