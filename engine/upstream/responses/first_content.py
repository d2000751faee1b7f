"""The first content of a response: what precedes it is buffered, so that a retry stays possible.

The first events of a stream (a role, an id, a ping) are buffered up to a bound. An error event
before any content, or an end without content, is a failure like a 5xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import FAILED, FAILED_REASONS, event_document
from engine.dialects.interface.error_texts import error_text
from engine.dialects.interface.streams import END_MARKER, Framing
from engine.process.loop_turn import FEW_BYTES, await_turn, paced
from engine.relay.filter import Filter
from engine.relay.framing import framing_of
from engine.relay.sse import MAX_EVENT, Cleaner, NotAnEvent
from engine.upstream.client.failures import Silence
from engine.upstream.client.response import EVENT_STREAM, JSON, IncomingResponse, media_type
from engine.values.content_coding import GZIP_START, coding_of
from engine.values.errors import EventTooLarge
from engine.values.event_json import LONG_EVENT, split_events

HELD_EVENTS = 16
HELD_BYTES = 65_536
NO_CONTENT = {"message": "its stream ended before any content"}
NO_ANSWER = {"message": "its response has no answer"}
_NO_END = {"message": "its response has answers with an end and one without"}
_END_MARKER = END_MARKER.decode()
_SMALL = 2_048
_EMPTY = re.compile(
    rb'"(?:(?:choices|data|candidates|content)"\s*:\s*null|base_resp"'
    rb'|(?:choices|candidates|data|embedding|values)"\s*:\s*\[\s*\]|embedding"\s*:\s*""'
    rb'|success"\s*:\s*false|status"\s*:\s*"failed"|finish_reason"\s*:\s*"(?:%s)")'
    % b"|".join(reason.encode() for reason in FAILED_REASONS)
)
_REPORT = re.compile(
    rb'\s*\{\s*"(?:code|detail|error_\w+|errors|fault|header|message|msg|Response|ret|status\w*'
    rb'|createTime|modelVersion|responseId|usageMetadata|data|model|response|result|success)"'
)
"""What a small answer has that reports an error behind other members (anywhere), or in place of
them (at its start): Gemini's without a candidate begin with their names. One pattern of both would
be tried at each byte, not only at each quote."""
_FAILED = f'"{FAILED}"'.encode()
"""A failed response repeats its request, and may be long."""

_ANSWER = re.compile(
    rb'"(?:choices|content|stop_reason|output|output_text|data|candidates|prompt_?[fF]eedback'
    rb'|embeddings?)"'
)
"""The members of answers, in any format (see `Dialect.answer_members`)."""

_PREFIX = 64  # bytes of JSON, white space included, that contain its first member
_PLAIN = re.compile(
    rb"(?s)(?!%b)(?!.{0,%d}error)\{.{%d}" % (_REPORT.pattern, _PREFIX - 5, _PREFIX - 1)
)
"""The beginning of nearly every answer: an object that begins like no report of an error."""


class ErrorFirst(Exception):
    """A response that begins with an error instead of content; `document` is its JSON, `status` the
    HTTP status that it is known to have, else 0."""

    def __init__(self, document: Any, status: int = 0) -> None:
        super().__init__("the upstream began its stream with an error")
        self.document, self.status = document, status


class Misframed(Exception):
    """A response of JSON does not begin like an object: look at its framing (`framed_response`).
    `data` is what was read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__("the upstream's answer is not the JSON that it says it is")
        self.data = data

    def __reduce__(self) -> tuple[type, tuple[bytes]]:
        """For pickle: an answer may be read in another process (`process/computation.py`)."""
        return type(self), (self.data,)


class FirstContent(Struct):
    """The start of a response: `first` is ready to be sent, `events` filters the rest of a stream
    of events, a Cleaner unless they are our own; it is None for a response that is relayed as
    bytes. `is_silent`: it is a stream of which nothing has arrived in the time for a heartbeat.
    `framing` is that of its bytes, None while it is not known. `several`: the request asks for
    several answers, of which one may break off.
    """

    first: bytes
    events: Filter | None = None
    is_silent: bool = False
    framing: Framing | None = None
    several: bool = False


def read_first_content(
    response: IncomingResponse,
    dialect: Dialect,
    beat: float | None = None,
    content: FirstContent | None = None,
    chat_path: str = "",
    is_translated: bool = False,
) -> FirstContent:
    """Wait for the first content. Raises UpstreamFailure, ErrorFirst or EventTooLarge, and
    Misframed.

    If nothing arrives for `beat` seconds, the stream begins with a heartbeat instead. The result is
    `content`, which also has what arrived before a failure. What is relayed to a POST on
    `chat_path` has to be an answer, if a chat has this path.
    """
    if content is None:
        content = FirstContent(b"")
    if dialect.transparent:
        content.first = response.read()
        return content
    kind = media_type(response)
    if content.framing is Framing.EVENTS or (
        kind == EVENT_STREAM and not response.header("content-encoding")
    ):
        if is_translated:
            return _open_stream(response, dialect, beat, Filter(), content)
        cleaner = Cleaner(dialect.stream)
        _open_stream(response, dialect, beat, cleaner, content, chat_path)
        content.first = cleaner.mend(content.first)
        return content
    if kind == "text/html" and response.status < 300:  # a proxy's page, or a login
        raise ErrorFirst({"message": "it answered with an HTML page"})
    if is_translated:
        return _open_translation(response, dialect, content)
    return _open_body(response, kind, dialect, content, chat_path)


def _open_translation(
    response: IncomingResponse, dialect: Dialect, content: FirstContent
) -> FirstContent:
    """The start of a translated body, which the translation has judged."""
    try:
        content.first = response.read()
    except NotAnEvent as error:
        raise _error_first(error.with_traceback(None), dialect) from None
    return content


def _open_stream(
    response: IncomingResponse,
    dialect: Dialect,
    beat: float | None,
    events: Filter,
    content: FirstContent,
    chat_path: str = "",
) -> FirstContent:
    """The events of a stream up to the first one with content."""
    content.events, count, size, ended = events, 0, 0, False
    foreign: Any = None
    if content.is_silent:
        content.first = dialect.heartbeat
        return content
    while not ended and count < HELD_EVENTS and len(content.first) <= HELD_BYTES:
        try:
            data = response.read(beat=beat)
        except Silence:
            content.first += dialect.heartbeat
            return content
        except NotAnEvent as error:
            raise _error_first(error.with_traceback(None), dialect) from None
        ended = not data
        arrived = events.feed(data) if data else events.finish()
        content.first += arrived
        size += len(data)
        if not arrived and size > MAX_EVENT:  # blank lines, say
            raise EventTooLarge(f"more than {MAX_EVENT} bytes before the first event")
        for event in _events_in(arrived):
            if not event:
                continue
            count += 1
            if event.startswith(b":"):
                continue  # a comment
            if len(event) > LONG_EVENT:
                return content
            document = event_document(event)
            if dialect.is_error_event(document):
                raise ErrorFirst(document)
            if document == _END_MARKER:
                ended = True
            elif chat_path and _is_foreign(document, dialect, chat_path):
                foreign = foreign or document
            elif dialect.has_content(document):
                return content
        if isinstance(failure := events.failure, NotAnEvent):
            raise _error_first(failure, dialect)
    if ended:
        raise ErrorFirst(foreign if error_text(foreign) else NO_CONTENT)
    return content


def _is_foreign(document: Any, dialect: Dialect, chat_path: str) -> bool:
    """Whether an event is none of a chat's answer: a page, or an object with a message that no sign
    shows to be an error. Others may follow it."""
    if isinstance(document, dict) and not error_text(document):
        return False
    is_known = bool(dialect.answer_members) and dialect.task(chat_path) == "chat"
    return is_known and dialect.ends([document]) is None


def _events_in(arrived: bytes) -> Iterable[bytes]:
    """Each of some events; between long ones others have their turn, as every step over one takes
    milliseconds."""
    is_many = len(arrived) > FEW_BYTES
    if is_many:
        await_turn()
    events = split_events(arrived) if len(arrived) > LONG_EVENT else arrived.split(b"\n\n")
    return paced(events) if is_many else events


def _open_body(
    response: IncomingResponse, kind: str, dialect: Dialect, content: FirstContent, chat_path: str
) -> FirstContent:
    """The start of a body that is not a stream of events. It may be an error, instead of a stream
    or as the first item of a streamed array, or no answer at all."""
    first = content.first = response.read()
    if (
        _PLAIN.match(first) is not None
        and _ANSWER.search(first) is not None
        and not content.several
        and (first.find(_FAILED) < 0 if len(first) > _SMALL else _EMPTY.search(first) is None)
    ):
        return content  # nearly every response
    if first[:1] != b"{":
        is_gzip = first[:2] == GZIP_START and kind == JSON and content.framing is None
        if is_gzip and not coding_of(response.header("content-encoding") or ""):
            raise Misframed(first)
        is_success = response.status < 300 and dialect.has_chat(chat_path)
        if is_success and (not first or _is_no_json(response, kind, content)):
            raise ErrorFirst(NO_ANSWER)
        first = content.first
        if kind == JSON and content.framing is None:
            raise Misframed(first)
    if kind != JSON or response.status != 200 or response.header("content-encoding"):
        return content
    members, is_odd = dialect.members_of_answer(chat_path), content.several or _has_sign(first)
    while len(first) <= HELD_BYTES and (
        is_odd or (members and _ANSWER.search(first) is None) or _may_be_error(first, dialect)
    ):
        document = NotAnEvent(first).document
        if dialect.is_error_event(document) and not _is_looked_up(document, dialect, chat_path):
            raise ErrorFirst(document)
        if document is not None and dialect.lacks_answer(document, chat_path):
            raise ErrorFirst(document if error_text(document) else NO_ANSWER)
        if content.several and lacks_end(dict(dialect.choices(document))):
            raise ErrorFirst(_NO_END)
        if document is not None or response.is_complete or not (more := response.read()):
            break
        first = content.first = first + more
        is_odd = is_odd or _has_sign(first)
    return content


def _has_sign(first: bytes) -> bool:
    """Whether the beginning of a body has a sign of an error or of no answer."""
    return (len(first) <= _SMALL or first.find(_FAILED) >= 0) and (
        _REPORT.match(first) is not None or _EMPTY.search(first) is not None
    )


def _is_no_json(response: IncomingResponse, kind: str, content: FirstContent) -> bool:
    """Whether a whole body that says that it is JSON is no object, array or stream: `null`, blanks
    or a word. Waits for the rest of what has no framing yet, up to HELD_BYTES."""
    if kind != JSON or response.header("content-encoding"):
        return False
    ended = False
    while framing_of(content.first) in (None, Framing.UNKNOWN) and len(content.first) <= HELD_BYTES:
        if ended or response.is_complete:
            return True
        more = response.read()
        content.first, ended = content.first + more, not more
    return False


def _is_looked_up(document: Any, dialect: Dialect, chat_path: str) -> bool:
    """Whether a body is the answer to a question for something that has failed, such as a response
    of yesterday: only a chat fails by its status."""
    is_failed = isinstance(document, dict) and document.get("status") == FAILED
    return is_failed and not dialect.has_chat(chat_path)


def lacks_end(choices: Mapping[int, bool]) -> bool:
    """Whether one of several answers breaks off: others say that they end. No end at all is how
    some servers write all answers."""
    return len({*choices.values()}) > 1


def _may_be_error(text: bytes, dialect: Dialect) -> bool:
    """Whether JSON, which may be incomplete, begins like an error."""
    start = b"".join(text[:_PREFIX].split())
    return any(
        prefix.startswith(start) or start.startswith(prefix) for prefix in dialect.error_prefixes
    )


def _error_first(foreign: NotAnEvent, dialect: Dialect) -> ErrorFirst:
    """The error reported by text that is not an event."""
    if dialect.is_error_event(foreign.document):
        return ErrorFirst(foreign.document, foreign.status)
    return ErrorFirst({"message": "its stream began with something that is not an event"})
