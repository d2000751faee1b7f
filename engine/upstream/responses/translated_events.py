"""Translates an upstream's server-sent events to the caller's language: bytes in, bytes out."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from operator import methodcaller

import orjson
from msgspec import Struct

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import event_document
from engine.exchange.member_protocols import Headers
from engine.metering.readers import Reader
from engine.process.loop_turn import FEW_BYTES, paced
from engine.process.preemption import PREEMPTION
from engine.relay.filter import Filter
from engine.relay.sse import Cleaner, NotAnEvent
from engine.translations import AnyStreamTranslator
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.upstream.client.failures import InvalidAnswer
from engine.values.errors import EventTooLarge, GatewayError, without_frames
from engine.values.event_json import (
    LONG_EVENT,
    event_type,
    json_or_none,
    long_data,
    split_events,
)
from engine.values.redaction import Redaction

_QUIET = 5.0
"""Seconds of upstream events without output after which the caller gets a heartbeat."""

_DATA = re.compile(rb"^data: (.*(?:\ndata: .*)*)", re.MULTILINE)
"""The data of a clean event, line by line."""

_JOINED = methodcaller("replace", b"\ndata: ", b"\n")
"""The data in one piece."""

_ERROR_NAME = b"event: error\n"
"""The name of an event that reports an error whatever its data."""

_ERRORS = (BrokenAnswer, UpstreamError, EventTooLarge)


class TranslatedErrors(Struct):
    """Writes errors in the caller's `dialect`, without the gateway's credentials. `headers` are
    those of the response: a time to wait that an error names is added to them."""

    dialect: Dialect
    request_id: str
    redaction: Redaction
    headers: Headers

    def document(self, error: UpstreamError) -> bytes:
        """The JSON of an error that the upstream reports."""
        if error.retry_after is not None and all(name != "retry-after" for name, _ in self.headers):
            self.headers.append(("retry-after", str(math.ceil(error.retry_after))))
        message = error.message or f"The upstream answered {error.status}."
        status = error.status if error.status >= 400 else 502
        gateway_error = GatewayError(status, error.code or "upstream_error", message)
        document = orjson.dumps(self.dialect.error(gateway_error, self.request_id))
        return self.redaction.redact(document) + b"\n"

    def failure(self, error: BrokenAnswer | UpstreamError) -> InvalidAnswer | NotAnEvent:
        """The failure that ends a stream: NotAnEvent for an error that the upstream reports."""
        if isinstance(error, UpstreamError):
            return NotAnEvent(self.document(error), error.status)
        return self.invalid_answer(error)

    def invalid_answer(self, error: BrokenAnswer) -> InvalidAnswer:
        """The failure of a response that cannot be translated, with the message of `error`."""
        return InvalidAnswer(self.redaction.redact_text(str(error))).after_start()


class TranslatedEvents(Filter):
    """Cleans and translates an upstream's stream, event by event.

    `dialect` is the upstream's; `usage` reads its events, each before it is translated. A
    `heartbeat` replaces events without output, such as pings of the upstream.
    """

    failure: InvalidAnswer | NotAnEvent | None = None
    _quiet_since: float | None = None
    _started = _has_types_in_names = False

    def __init__(
        self,
        translator: AnyStreamTranslator,
        dialect: Dialect,
        usage: Reader,
        errors: TranslatedErrors,
        heartbeat: bytes = b"",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._translator, self._event = translator, translator.event
        self._dialect = dialect
        self._read_usage = usage.feed
        self._errors = errors
        self._heartbeat = heartbeat
        self._clock = clock
        self._cleaner = Cleaner(dialect.stream)
        self._clean = self._cleaner.feed

    @property
    def ended(self) -> bool:
        """Whether the answer is complete, although the stream may go on."""
        return self._translator.ended

    def feed(self, data: bytes) -> bytes:
        """The translated events that `data` completes."""
        if self.failure is not None:
            return b""
        output: list[bytes] = []
        try:
            self._translate(self._clean(data), output)
            if self._cleaner.failure is not None:
                self._refuse_foreign(self._cleaner.failure)
        except _ERRORS as error:
            return self._break_off(error, output)
        events = b"".join(output)
        if not events:
            return self._keep_alive()
        self._quiet_since = None
        return events

    def finish(self) -> bytes:
        """The translated events at the end of the stream."""
        if self.failure is not None:
            return b""
        output: list[bytes] = []
        try:
            self._translate(self._cleaner.finish(), output)
            if self._cleaner.failure is not None:
                self._refuse_foreign(self._cleaner.failure)
            output.append(self._translator.end())
        except _ERRORS as error:
            return self._break_off(error, output)
        return b"".join(output)

    def _translate(self, events: bytes, output: list[bytes]) -> None:
        """Append the translation of clean events to `output`, also of those before an error."""
        if not self._started and not (events := self._translate_start(events, output)):
            return
        if len(events) > LONG_EVENT:
            self._translate_long(events, output)
            return
        self._read_usage(events)
        data: Iterable[bytes] = map(_JOINED, _DATA.findall(events))
        if self._has_types_in_names or events.find(_ERROR_NAME) >= 0:
            data = filter(None, map(_data_of, events.split(b"\n\n")))
        if len(events) > FEW_BYTES:
            data = paced(data)
        output.extend(map(self._event, data))  # lazy: appends up to an error

    def _translate_long(self, events: bytes, output: list[bytes]) -> None:
        """The same where one may be long: every step over it takes the event loop milliseconds, and
        others have their turn between two."""
        self._read_usage(events)
        for event in paced(split_events(events)):
            try:
                PREEMPTION.begin()
                if self._has_types_in_names or event.startswith(_ERROR_NAME):
                    data = _data_of(event)
                else:
                    data = b"\n".join([event[start:end] for start, end in long_data(event)])
                if data:
                    output.append(self._event(data))
            finally:
                PREEMPTION.end()

    def _translate_start(self, events: bytes, output: list[bytes]) -> bytes:
        """Translate one by one the events up to that with which the answer begins, which tells the
        usage so far: it does not depend on how many arrive at once. Returns the other events."""
        self._started = True
        size = 0
        for first in split_events(events):
            if self._translator.started:
                break
            if event_type(first) and _data_of(first) != _data_in(first):
                self._has_types_in_names = True
            self._translate(first, output)
            size += len(first)
        self._started = self._translator.started
        return events[size:]

    def _keep_alive(self) -> bytes:
        """The bytes that replace events without output: a heartbeat after _QUIET seconds."""
        now = self._clock()
        if self._quiet_since is not None and now - self._quiet_since < _QUIET:
            return b""
        heartbeat = b"" if self._quiet_since is None else self._heartbeat
        self._quiet_since = now
        return heartbeat

    def _break_off(self, error: Exception, output: list[bytes]) -> bytes:
        """Set the failure. Returns the output of the events before the error."""
        without_frames(error)  # which refer to this stream
        if not isinstance(error, BrokenAnswer | UpstreamError):
            error = BrokenAnswer(f"the upstream's answer cannot be read: {error}")
        self.failure = self._errors.failure(error)
        return b"".join([*output, self._translator.take()])

    def _refuse_foreign(self, text: NotAnEvent) -> None:
        """Raise an error for what is not an event, unless the answer is complete."""
        if not self.ended:
            raise self._foreign_error(text)

    def _foreign_error(self, text: NotAnEvent) -> BrokenAnswer | UpstreamError:
        if self._dialect.is_error_event(text.document):
            error = self._dialect.stream_error(text.document)
            if error is not None:
                message = error.document.get("error", {}).get("message")
                return UpstreamError(error.status, message or "")
        return BrokenAnswer(str(text))


class ArrayOfEvents(TranslatedEvents):
    """A stream for a caller who gets an array. An error is the last item of one that has begun, and
    the array breaks off."""

    _has_begun = False

    def feed(self, data: bytes) -> bytes:
        return self._with_error(super().feed(data))

    def finish(self) -> bytes:
        return self._with_error(super().finish())

    def _with_error(self, output: bytes) -> bytes:
        self._has_begun = self._has_begun or bool(output)
        if isinstance(self.failure, NotAnEvent) and self._has_begun:
            output += b",\n" + self.failure.text
            words = "the upstream's answer broke off with an error"
            self.failure = InvalidAnswer(words).after_start()
        return output


def _data_of(event: bytes) -> bytes:
    """The data of a clean event; of one that is named `error`, the JSON of an error. The name of an
    event is its type if its data has none."""
    if event.startswith(_ERROR_NAME):
        return orjson.dumps(event_document(event))
    data, name = _data_in(event), event_type(event)
    if name and isinstance(document := json_or_none(data), dict) and "type" not in document:
        return orjson.dumps({"type": name, **document})
    return data


def _data_in(event: bytes) -> bytes:
    """The data of a clean event, b"" without any."""
    return b"\n".join(_JOINED(data) for data in _DATA.findall(event))
