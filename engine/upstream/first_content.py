"""The beginning of an answer: held back until it has content, so that failing over stays possible.

A stream's start-up events (a role, an id, a ping) are held, up to a bound. An error event before
any content, or an end without any, is a failure like a 5xx.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.dialects import Dialect
from engine.relay.sse import Cleaner, NotAnEvent
from engine.upstream.client.client import UpstreamResponse
from engine.values.event_json import event_json

HELD_EVENTS = 16
HELD_BYTES = 65_536
_DECIDED = 64  # bytes of JSON, white space included, by which its first member is known


class ErrorFirst(Exception):
    """A stream whose first event of any weight is an error; `document` is what it said."""

    def __init__(self, document: Any) -> None:
        super().__init__("the upstream began its stream with an error")
        self.document = document


@dataclass(slots=True)
class FirstContent:
    """What has arrived of an answer: `first` is ready to be sent, `cleaner` cleans the rest.

    `cleaner` is None for an answer that is relayed as bytes.
    """

    first: bytes
    cleaner: Cleaner | None = None


def media_type(response: UpstreamResponse) -> str:
    """What an answer is said to be, in lower case and without parameters."""
    return (response.header("content-type") or "").partition(";")[0].strip().lower()


def is_event_stream(response: UpstreamResponse) -> bool:
    """Whether an answer is a stream of events that can be read."""
    return _streams(media_type(response), response)


def _streams(kind: str, response: UpstreamResponse) -> bool:
    return kind == "text/event-stream" and not response.header("content-encoding")


def read_first_content(
    response: UpstreamResponse, dialect: Dialect, beat: float | None = None
) -> FirstContent:
    """Wait for the first content. Raises UpstreamFailure, ErrorFirst or EventTooLarge.

    A stream that falls silent for `beat` seconds is begun all the same, with a sign of life.
    """
    if dialect.transparent:
        return FirstContent(response.read())
    kind = media_type(response)
    if kind == "text/html" and response.status < 300:  # a proxy's page, or a login
        raise ErrorFirst({"message": "it answered with an HTML page"})
    if not _streams(kind, response):
        return _open_body(response, kind, dialect)
    cleaner = Cleaner(dialect.stream)
    held = b""
    events = 0
    ended = False
    while not ended and events < HELD_EVENTS and len(held) <= HELD_BYTES:
        if beat is not None and response.silent(beat):
            return FirstContent(held + dialect.heartbeat, cleaner)
        data = response.read()
        ended = not data
        fresh = cleaner.feed(data) if data else cleaner.rest()
        held += fresh
        for event in fresh.split(b"\n\n"):
            if not event:
                continue
            events += 1
            if event.startswith(b":"):
                continue  # a comment says nothing
            document = event_json(event)
            if dialect.is_error_event(document):
                raise ErrorFirst(document)
            if dialect.has_content(document):
                return FirstContent(held, cleaner)
        if cleaner.foreign:
            raise ErrorFirst(_error_in(NotAnEvent(cleaner.foreign), dialect))
    if ended:
        raise ErrorFirst({"message": "its stream ended before any content"})
    return FirstContent(held, cleaner)


def _open_body(response: UpstreamResponse, kind: str, dialect: Dialect) -> FirstContent:
    """The first of a body that is no stream of events. An error may stand in it all the same, in
    place of a stream or as the first item of an array that is streamed."""
    first = response.read()
    if len(first) >= _DECIDED and b"error" not in first[:_DECIDED]:
        return FirstContent(first)  # what nearly every answer is
    if kind != "application/json" or response.status != 200 or response.header("content-encoding"):
        return FirstContent(first)
    while _may_be_error(first, dialect) and len(first) <= HELD_BYTES:
        document = NotAnEvent(first).document
        if dialect.is_error_event(document):
            raise ErrorFirst(document)
        if document is not None or response.is_complete or not (more := response.read()):
            break
        first += more
    return FirstContent(first)


def _may_be_error(text: bytes, dialect: Dialect) -> bool:
    """Whether a JSON text, or what has come of it, begins as an error does."""
    begins = b"".join(text[:_DECIDED].split())
    return any(
        known.startswith(begins) or begins.startswith(known) for known in dialect.error_prefixes
    )


def _error_in(foreign: NotAnEvent, dialect: Dialect) -> Any:
    """The error reported by text that is not an event."""
    if dialect.is_error_event(foreign.document):
        return foreign.document
    return {"message": "its stream began with something that is not an event"}
