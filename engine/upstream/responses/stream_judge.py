"""Finds the errors that a relayed stream reports in its events, and judges whether it is complete.

Only events with the word `error` are parsed as they pass. The first and the last events are
kept, and read at the end of the stream: they show other forms of errors, and whether it has its
end.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import ERROR, OTHER_SIGNS, event_document
from engine.process.loop_turn import paced, paced_if_many
from engine.upstream.client.failures import Truncated
from engine.upstream.responses.first_content import lacks_end
from engine.upstream.targets import retry
from engine.values.event_json import LONG_EVENT, event_json, split_events
from engine.values.redaction import Redaction

_MAX_READS = 8
"""The number of reads whose events are kept for the end."""
MAX_EVENT_END = 65_536
"""What is kept of an event that took several reads, such as an image: its end."""
_MAX_CHOICES = 128
"""Answers whose ends are followed: no vendor gives more to one request."""

_COMMENTS = re.compile(rb"(?::[^\n]*+\n++)*+")


class ReportedError(Exception):
    """An event of a stream reports an error; `document` is its JSON. `event`: it is passed on as it
    is; b"" if its dialect has another form for it."""

    def __init__(self, document: Any, event: bytes = b"") -> None:
        super().__init__("the upstream reported an error in its answer")
        self.document, self.event = document, event


class StreamJudge:
    """Judges the events of one stream. `failure` ends it; `error` is the JSON of an error that is
    the dialect's regular end of a stream. `several`: it has several answers, each with an end."""

    def __init__(self, dialect: Dialect, redaction: Redaction, *, several: bool = False) -> None:
        self.failure: ReportedError | Truncated | None = None
        self.error: Any = None
        self.first = b""  # the events up to the first content
        self._dialect = dialect
        self._redaction = redaction
        self._last = deque[bytes](maxlen=_MAX_READS)
        self._choices: dict[int, bool] = {}
        self._several = several
        # Called for all events, in the order of their arrival, or `keep_long`.
        self.keep = self._follow if several else self._last.append

    def check(self, events: bytes) -> bytes:
        """The events up to one that reports an error, which sets `failure`; without our credentials
        where they have the word `error`. Clean events are returned as the same object."""
        if len(events) > LONG_EVENT:
            return self._check_long(events)
        at = events.find(ERROR)
        if at < 0:
            return events
        while at >= 0:
            start = events.rfind(b"\n\n", 0, at)
            start = 0 if start < 0 else start + 2
            end = events.find(b"\n\n", at) + 2
            if not self._may_pass(events[start:end]):
                return self._redaction.redact(events[:start])
            at = events.find(ERROR, end)
        return self._redaction.redact(events)

    def _check_long(self, events: bytes) -> bytes:
        """The same with a long event among them, which passes."""
        passed, is_clean = list[bytes](), True
        for event in paced(split_events(events)):
            passed.append(event if len(event) > LONG_EVENT else self.check(event))
            is_clean = is_clean and passed[-1] is event
            if self.failure is not None:
                is_clean = False
                break
        return events if is_clean else b"".join(passed)

    def _may_pass(self, event: bytes) -> bool:
        document = event_document(event)
        if not self._dialect.is_error_event(document):
            return True
        form = event_json(event)
        has_form = isinstance(form, dict) and self._dialect.has_error_form(form)
        if has_form and self._dialect.ends([document]):
            self.error = document
            return True
        self.failure = ReportedError(document, self._redaction.redact(event) if has_form else b"")
        return False

    def keep_long(self, events: bytes) -> None:
        """Keep events that may be long: their end, unless they are only comments."""
        if _are_comments(events):
            return
        self._last.append(events[-MAX_EVENT_END:])
        if self._several:
            self._note_ends(events)

    def _follow(self, events: bytes) -> None:
        """Keep events, and which of several answers they end."""
        self._last.append(events)
        self._note_ends(events)

    def _note_ends(self, events: bytes) -> None:
        for event in paced_if_many(split_events(events), len(events)):
            for index, has_end in self._dialect.choices(event_document(event)):
                if index in self._choices or len(self._choices) < _MAX_CHOICES:
                    self._choices[index] = has_end or self._choices.get(index, False)

    def end(self) -> None:
        """Judge the last events of a stream without a failure."""
        last = b"".join(self._last)
        if OTHER_SIGNS.search(b"\n" + last) is not None:
            for document in _documents(last.split(b"\n\n")):
                if document != self.error and self._dialect.is_error_event(document):
                    self.failure = ReportedError(document)
                    return
        if lacks_end(self._choices) or not self._has_end(last):
            self.failure = Truncated().after_start()

    def _has_end(self, last: bytes) -> bool:
        """Whether a stream has its end, which is most often one of its last two events."""
        if self._dialect.ends(_documents(last.rsplit(b"\n\n", 3)[-3:])):
            return True
        documents = _documents(last.split(b"\n\n"))
        has_end = self._dialect.ends(documents)
        if has_end is None:  # pings, say: how the stream began shows what its end would be
            has_end = self._dialect.ends([*_documents(self.first.split(b"\n\n")), *documents])
        return has_end is not False


def _documents(events: list[bytes]) -> list[Any]:
    """The JSON of clean events but comments."""
    return [event_document(event) for event in events if event and event[:1] != b":"]


def _are_comments(events: bytes) -> bool:
    """Whether clean events are only comments, such as the heartbeats that can follow an end for
    minutes; also if there are none."""
    return _COMMENTS.fullmatch(events) is not None


def error_class(dialect: Dialect, document: Any) -> str:
    """The class of an error in a stream after its first content (see `retry`)."""
    error = dialect.stream_error(document)
    return retry.error_event_class(None if error is None else error.status)
