"""Sending the body of a request on as it arrives: only its head, up to the content of its file, is
in memory, where the stages behind see and edit it. The file passes through a buffer.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.request_body import Body, BodyStream, ReceivedBody
from engine.spec.bodies.multipart import MultipartError, boundary_of, open_part
from engine.spec.bodies.multipart_stream import file_chunks
from engine.spec.bodies.request_bodies import Bodies, check
from engine.stages.validate import Checks, refusal_of
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit, apply_edits
from engine.values.media_types import essence

HEAD = 65_536
"""Bytes of a form within which the content of its file begins."""

_ROOT = re.compile(r"[^\[]*")


class StreamedFile(NamedTuple):
    """Which bodies are sent on as they arrive: forms with a file in this `field`, and with "" those
    that are a file. Fields of these names (`first`) come before the file, of which `required` must
    be there; with one of the values `whole` the body is received first."""

    field: str
    first: frozenset[str] = frozenset()
    required: str = ""
    whole: frozenset[str] = frozenset()


IsWhole = Callable[[Exchange, bytes, int], bool]
"""Whether a body of this size, which begins so, is received first."""


def stream_body(file: StreamedFile, checks: Checks, is_whole: IsWhole | None = None) -> Stage:
    """A stage that begins to receive a large body, which ends when it is sent to an upstream. What
    cannot be judged by its head is received as a whole.

    Raises GatewayError 400, 408 or 413, and so does sending the body on."""
    bodies = checks.bodies
    assert bodies is not None

    def stage(exchange: Exchange, following: Handler) -> Response:
        stream = exchange.body_reader.stream(HEAD)
        if stream is not None:
            body = None
            if is_whole is None or not is_whole(exchange, stream.head, stream.size):
                body = _streamed(exchange, stream, file, bodies, checks.mode)
            body = body or stream.receive()
            exchange.on_end.append(body.close)
            exchange.body_reader = ReceivedBody(body, stream.size)
        return following(exchange)

    return stage


def _streamed(
    exchange: Exchange, stream: BodyStream, file: StreamedFile, bodies: Bodies, mode: str
) -> Body | None:
    """The body of which only the head is there; None if all of it is needed."""
    content_type = exchange.header("CONTENT_TYPE") or ""
    is_form = essence(content_type) == "multipart/form-data"
    if is_form != bool(file.field):
        return None
    if not is_form:
        is_parsed = _is_parsed(exchange, bodies)
        return None if is_parsed else _unparsed(stream)
    try:
        boundary = boundary_of(content_type)
        part = open_part(stream.head, boundary)
    except MultipartError:
        return None  # the stage that parses it says why
    if part is None or part.filename is None or part.name != file.field:
        return None
    head, end = stream.head[: part.start], b"\r\n--" + boundary + b"--\r\n"
    if not _is_whole(exchange, head + end, file, bodies):
        return None
    judge = _judge_of(exchange, head, file, bodies, mode)

    def pieces() -> Iterator[bytes]:
        content = chain((stream.head[part.start :],), stream.chunks())
        return _refusing(file_chunks(content, boundary, judge))

    return StreamedBody(head, end, Rest(stream.size - len(head), pieces))


def _is_parsed(exchange: Exchange, bodies: Bodies) -> bool:
    try:
        return bodies.rule(exchange).parse is not None
    except GatewayError:
        return True  # the stage that parses it says why


def _unparsed(stream: BodyStream) -> Body:
    """A body that is nothing but a file."""
    rest = Rest(stream.size, lambda: chain((stream.head,), stream.chunks()))
    return StreamedBody(b"", b"", rest)


def _is_whole(exchange: Exchange, text: bytes, file: StreamedFile, bodies: Bodies) -> bool:
    """Whether a form with an empty file has all that the document requires, so that it can be
    judged before its file has arrived."""
    trial = copy.copy(exchange)
    trial.body = Body(text)
    try:
        rule = bodies.parse(trial)
    except GatewayError:
        return False  # so does the whole form, or a field stands behind the file
    value = trial.content.value
    if rule is None or rule.validator is None or not isinstance(value, dict):
        return False
    if not rule.validator.is_valid(value) or (file.required and file.required not in value):
        return False
    word = value.get(file.required)
    return not (isinstance(word, str) and word.strip().casefold() in file.whole)


def _judge_of(
    exchange: Exchange, head: bytes, file: StreamedFile, bodies: Bodies, mode: str
) -> Callable[[bytes], None]:
    """Judges what stands behind the file, before the upstream gets it."""
    refuse = refusal_of(mode)

    def judge(rest: bytes) -> None:
        trial = copy.copy(exchange)
        trial.body = Body(head + rest)
        rule = bodies.parse(trial)
        parts = trial.content.parts
        _refuse_late((part.name for part in parts if part.start > len(head)), file.first)
        if any(part.filename is not None for part in parts if part.start > len(head)):
            raise _invalid("A file may be followed by no other one: its upload takes one file.")
        if rule is not None and mode != "off" and trial.content.value is not MISSING:
            try:
                check(rule, trial.content.value)
            except GatewayError as error:
                refuse(exchange, error)

    return judge


def _refuse_late(names: Iterable[str], first: Collection[str]) -> None:
    """Raises GatewayError 400 for a field that decides about the file behind it."""
    for name in names:
        match = _ROOT.match(name)
        if match is not None and match[0] in first:
            message = f"The field '{match[0]}' stands behind the file. Send it before the file."
            raise _invalid(message, match[0])


def _refusing(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a form. Raises GatewayError 400 for one that cannot be read."""
    try:
        yield from pieces
    except MultipartError as error:
        message = f"The multipart body cannot be read: {error}"
        raise GatewayError(400, "invalid_multipart", message) from error


def _invalid(message: str, param: str = "") -> GatewayError:
    return GatewayError(400, "invalid_value", message, param=param)


class Rest:
    """The rest of a body, of `size` bytes, which `read` begins to yield once."""

    __slots__ = ("_read", "is_spent", "size")

    def __init__(self, size: int, read: Callable[[], Iterable[bytes]]) -> None:
        self._read, self.size = read, size
        self.is_spent = False

    def chunks(self) -> Iterable[bytes]:
        """The bytes. Raises ValueError the second time: an upstream has got some of them."""
        if self.is_spent:
            raise ValueError("the body of this request was sent already")
        self.is_spent = True
        return self._read()


class StreamedBody(Body):
    """The bytes of a `head` and a `rest`. The stages of a request see and edit the head; `buffer`
    has it with an `end` that completes it, such as the last line of a form whose file is empty."""

    __slots__ = ("_end", "_head", "_rest")

    is_replayable = False

    def __init__(self, head: bytes, end: bytes, rest: Rest) -> None:
        super().__init__(head + end)
        self._head, self._end, self._rest = head, end, rest
        self.in_memory = None
        self.size = len(head) + rest.size

    @property
    def is_spent(self) -> bool:  # type: ignore[override]
        return self._rest.is_spent

    def chunks(self) -> Iterator[bytes]:
        """The head, and the rest, which can be sent once. Raises ValueError the second time."""
        rest = self._rest.chunks()
        yield self._head
        yield from rest

    def with_edits(self, *edits: Edit) -> StreamedBody:
        """A copy with edits of the head."""
        if any(end > len(self._head) for _, end, _ in edits):
            raise ValueError("the rest of a streamed body cannot be edited")
        return StreamedBody(apply_edits(self._head, sorted(edits)), self._end, self._rest)

    def rewrite(self, *edits: Edit) -> StreamedBody:
        return self.with_edits(*edits)
