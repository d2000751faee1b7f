"""A stream that is relayed in a framing of its own: a JSON array, or Amazon's messages.

It is judged and metered as the server-sent events that it stands for, and passes as it is.
"""

from __future__ import annotations

import orjson

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import event_document
from engine.metering.readers import reader
from engine.relay.filter import Filter
from engine.relay.sse import Cleaner
from engine.upstream.client.failures import Truncated
from engine.upstream.client.response import EVENT_STREAM
from engine.upstream.responses.first_content import HELD_BYTES, NO_CONTENT, ErrorFirst
from engine.upstream.responses.stream_judge import ReportedError, StreamJudge
from engine.values.errors import EventTooLarge
from engine.values.event_json import event_json
from engine.values.redaction import Redaction

_Failure = ReportedError | Truncated | EventTooLarge


class JudgedStream(Filter):
    """Passes bytes unchanged; `source` turns them into the events by which they are judged.

    What precedes the first content is held, so that a retry stays possible: without content the
    failure is ErrorFirst. Behind it, what holds the error passes too. `usage` reads the events.
    """

    def __init__(
        self, source: Filter, dialect: Dialect, redaction: Redaction, *, several: bool = False
    ) -> None:
        self.usage = reader(dialect.meter, EVENT_STREAM)
        self._source = source
        self._dialect = dialect
        self._redaction = redaction
        self._cleaner = Cleaner(dialect.stream)
        self._judge = StreamJudge(dialect, redaction, several=several)
        self._held = b""
        self._has_content = False

    def feed(self, data: bytes) -> bytes:
        try:
            events = self._cleaner.feed(self._source.feed(data))
        except EventTooLarge as error:
            return self._fail(error, data, b"")
        self.usage.feed(events)
        passed = self._keep(events)
        if (failure := self._failure_so_far()) is not None:
            return self._fail(failure, data, passed)
        self._held += self._write(data, passed)
        if max(len(self._held), len(self._judge.first)) > HELD_BYTES:
            self._has_content = True
        return self._release() if self._has_content else b""

    def finish(self) -> bytes:
        events = self._cleaner.finish()
        self.usage.feed(events)
        passed = self._keep(events)
        self._source.finish()
        self._judge.end()
        if (failure := self._failure_so_far()) is not None:
            return self._fail(failure, b"", passed)
        if not self._has_content:
            self.failure = ErrorFirst(NO_CONTENT)
            return b""
        return self._release() + self._write(b"", passed) + self._closing()

    def _release(self) -> bytes:
        part, self._held = self._held, b""
        return part

    def _keep(self, events: bytes) -> bytes:
        """The events up to an error, which are kept for the end."""
        passed = self._judge.check(events)
        self._judge.keep_long(passed)
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
        source_failure = self._source.failure
        if isinstance(source_failure, EOFError):
            return Truncated().after_start()
        return None if source_failure is None else EventTooLarge(str(source_failure))

    def _fail(self, failure: _Failure, data: bytes, passed: bytes) -> bytes:
        """End the stream with a failure. `data` holds the error, which passes without our
        credentials, or not at all if it cannot be written without them."""
        if not self._has_content:
            document = failure.document if isinstance(failure, ReportedError) else NO_CONTENT
            self.failure = ErrorFirst(document)
            return b""
        self.failure = failure
        return self._release() + self._last(failure, data, passed)

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


class EventArray(JudgedStream):
    """Server-sent events as the JSON array that the request wants."""

    _begun = False

    def __init__(self, dialect: Dialect, redaction: Redaction, *, several: bool = False) -> None:
        super().__init__(Filter(), dialect, redaction, several=several)

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
