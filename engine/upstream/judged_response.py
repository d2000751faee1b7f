"""A stream that is relayed in a framing of its own: a JSON array, or Amazon's messages.

It is judged and metered as the server-sent events that it stands for, and passes as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import event_document
from engine.metering.readers import reader
from engine.relay.framing import EventSource
from engine.relay.sse import Cleaner
from engine.upstream.client.failures import Truncated
from engine.upstream.client.response import IncomingResponse
from engine.upstream.first_content import EVENT_STREAM, HELD_BYTES, NO_CONTENT, ErrorFirst
from engine.upstream.stream_judge import MAX_EVENT_END, ReportedError, StreamJudge, are_comments
from engine.upstream.wrapped_response import WrappedResponse
from engine.values.errors import EventTooLarge
from engine.values.event_json import event_json
from engine.values.redaction import Redaction

_Failure = ReportedError | Truncated | EventTooLarge


class JudgedResponse(WrappedResponse):
    """A response whose bytes pass unchanged; `source` turns them into the events by which they are
    judged. What precedes the first content is held, so that a retry stays possible. After an error,
    which passes too, reading fails."""

    def __init__(
        self,
        response: IncomingResponse,
        source: EventSource | None,
        dialect: Dialect,
        redaction: Redaction,
    ) -> None:
        super().__init__(response, response.headers)
        self._reader = reader(dialect.meter, EVENT_STREAM)
        if dialect.meter is not None:
            self.usage = self._reader
        self._source = source
        self._dialect = dialect
        self._redaction = redaction
        self._cleaner = Cleaner(dialect.stream)
        self._judge = StreamJudge(dialect, redaction)
        self._end: _Failure | None = None
        self._held = b""
        self._has_content = self._has_ended = False

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read, and judged."""
        return self._has_ended and not self._held and self._end is None

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, `b""` at the end; `on_data` is not called. Raises
        UpstreamFailure, EventTooLarge and Silence, ErrorFirst before any content, and ReportedError
        behind it."""
        while not self._has_ended and not (self._held and self._has_content):
            data = self._response.read(beat=beat)
            if data:
                self._take(data)
            else:
                self._finish()
        part, self._held = self._held, b""
        if not part and self._end is not None:
            self._response.close()
            raise self._end
        return part

    def _take(self, data: bytes) -> None:
        """Judge the next bytes, and hold what passes of them."""
        try:
            events = data if self._source is None else self._source.feed(data)
            events = self._cleaner.feed(events)
        except EventTooLarge as error:
            self._fail(error, data, b"")
            return
        self._reader.feed(events)
        passed = self._keep(events)
        failure = self._failure_so_far()
        if failure is None:
            self._held += self._write(data, passed)
            if len(self._held) > HELD_BYTES:
                self._has_content = True
        else:
            self._fail(failure, data, passed)

    def _keep(self, events: bytes) -> bytes:
        """The events up to an error, which are kept for the end."""
        passed = self._judge.check(events)
        if not are_comments(passed):
            self._judge.keep(passed[-MAX_EVENT_END:])
        if not self._has_content:
            self._judge.first += passed
            documents = [event_document(event) for event in passed.split(b"\n\n") if event]
            self._has_content = any(map(self._dialect.has_content, documents))
        return passed

    def _failure_so_far(self) -> _Failure | None:
        if self._judge.failure is not None:
            return self._judge.failure
        if (foreign := self._cleaner.failure) is not None:
            return ReportedError(foreign.document)
        source_failure = None if self._source is None else self._source.failure
        return None if source_failure is None else EventTooLarge(str(source_failure))

    def _fail(self, failure: _Failure, data: bytes, passed: bytes) -> None:
        """End the stream with a failure. `data` holds the error, which passes without our
        credentials, or not at all if it cannot be written without them."""
        self._has_ended, self._end = True, failure
        if not self._has_content:
            self._response.close()
            if isinstance(failure, ReportedError):
                raise ErrorFirst(failure.document)
            raise ErrorFirst(NO_CONTENT)
        self._held += self._last(failure, data, passed)

    def _finish(self) -> None:
        """Judge the end of the stream."""
        self._has_ended = True
        passed = self._keep(self._cleaner.finish())
        self._judge.end()
        failure = self._failure_so_far()
        if failure is None and self._source is not None and self._source.inside:
            failure = Truncated()
            failure.request_sent = failure.response_started = True
        if failure is not None:
            self._fail(failure, b"", passed)
        elif not self._has_content:
            raise ErrorFirst(NO_CONTENT)
        else:
            self._held += self._write(b"", passed) + self._closing()

    # How the stream is written.

    def _write(self, data: bytes, events: bytes) -> bytes:
        """What the caller gets of bytes that are these clean events."""
        return data

    def _last(self, failure: _Failure, data: bytes, events: bytes) -> bytes:
        """What the caller gets of the bytes in which the stream fails."""
        redacted = self._redaction.redact(data)
        if redacted is not data and self._dialect.amazon_streams:
            return b""  # its checksums would be wrong
        return redacted

    def _closing(self) -> bytes:
        """What ends a stream that is complete."""
        return b""


class EventArray(JudgedResponse):
    """Server-sent events as the JSON array that the request wants."""

    _begun = False

    def __init__(self, response: IncomingResponse, dialect: Dialect, redaction: Redaction) -> None:
        super().__init__(response, None, dialect, redaction)
        headers = [pair for pair in response.headers if not pair[0].startswith("content-")]
        self.headers = [*headers, ("content-type", "application/json")]

    def _write(self, data: bytes, events: bytes) -> bytes:
        return b"".join(map(self._item, filter(None, map(event_json, events.split(b"\n\n")))))

    def _last(self, failure: _Failure, data: bytes, events: bytes) -> bytes:
        items = self._write(b"", events)
        if isinstance(failure, ReportedError):
            items += self._redaction.redact(self._item(failure.document))
        return items

    def _closing(self) -> bytes:
        return b"]\n" if self._begun else b"[]\n"

    def _item(self, document: object) -> bytes:
        start, self._begun = b",\r\n" if self._begun else b"[", True
        return start + orjson.dumps(document)
