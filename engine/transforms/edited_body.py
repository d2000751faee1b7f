"""A response of a handler with edits of its headers and body, whatever form the body has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.exchange.exchange import Exchange, Response
from engine.exchange.push_stream import PushStream
from engine.relay.response_headers import STALE_HEADERS
from engine.relay.whole_body import corrected
from engine.transforms.response_edits import (
    BodyEditor,
    EditedJson,
    EventEditor,
)
from engine.values.content_coding import decode_body
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.media_types import is_json


def edit_response(exchange: Exchange, response: Response, editor: BodyEditor) -> None:
    """Edit a response of a target. Raises what the editor raises, and GatewayError 502 for a
    Content-Encoding that cannot be decoded; the gateway asked for none."""
    headers = response.headers
    kind = next((value for name, value in headers if name == "content-type"), "")
    response.headers = editor.headers(headers)
    if not editor.edits_body(exchange.method, response.status, kind):
        return
    encoding = next((value for name, value in headers if name == "content-encoding"), "")
    body = response.body
    response.headers = [pair for pair in response.headers if pair[0] not in STALE_HEADERS]
    if encoding not in ("", "identity") and not isinstance(body, bytes):
        raise _undecodable(encoding)
    if isinstance(body, PushStream):
        body.pipeline.add(EventEditor(editor).feed)
    elif isinstance(body, bytes):
        response.body = _edited_body(body, encoding, kind, editor)
    else:
        response.body = _edited_pieces(body, kind, editor)


def _edited_body(body: bytes, encoding: str, kind: str, editor: BodyEditor) -> bytes:
    """A complete body, JSON or events, decoded and edited."""
    text = decode_body(encoding, body)
    if text is None:
        raise _undecodable(encoding)
    if is_json(kind):
        data = editor.json(text)
        return corrected(data, editor.settle(editor.outcome()))
    events = EventEditor(editor)
    return events.feed(text) + events.finish()


def _undecodable(encoding: str) -> GatewayError:
    message = f"The upstream's answer has the Content-Encoding '{encoding}' and cannot be edited."
    return GatewayError(502, "upstream_error", message)


def _edited_pieces(pieces: Iterable[bytes], kind: str, editor: BodyEditor) -> Iterator[bytes]:
    """The events of a body that arrives in pieces, or its JSON when it is complete."""
    if not is_json(kind):
        events = EventEditor(editor)
        yield from map(events.feed, pieces)
        yield events.finish()
        return
    yield from _edited_json(pieces, EditedJson(editor))


def _edited_json(pieces: Iterable[bytes], body: EditedJson) -> Iterator[bytes]:
    try:
        for piece in pieces:
            body.feed(piece)
            if body.failure is not None:
                raise _broke_off(body.failure)
        yield body.finish()
        if body.failure is not None:
            raise _broke_off(body.failure)
        while data := body.more():
            yield data
    except GatewayError as error:  # of what follows from the edits
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, error.message) from error
    finally:
        body.close()


def _broke_off(failure: Exception) -> AbortConnection:
    return AbortConnection(AbortReason.RESPONSE_BROKE_OFF, str(failure))
