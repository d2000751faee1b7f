"""A language of chat: what each folder beside this module defines as `LANGUAGE`.

Everything is sans-IO: bytes in and bytes out, no socket, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec import Struct

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.events import Event, UpstreamError
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.values.wildcard import Patterns


class RequestLine(Struct):
    """What is known of a request beside its body: the model, whether a stream is wanted and the
    query, for languages that have them in the URL; the gateway's id of it, and the time in seconds
    since 1970."""

    model: str = ""
    stream: bool = False
    query: str = ""
    id: str = ""
    time: int = 0


class WrittenRequest(Struct):
    """A request as a target gets it. `path` follows the base path of the upstream. `tool_names` are
    the callers' names of tools by those that the target gets instead."""

    body: bytes
    path: str
    query: str = ""
    tool_names: dict[str, str] = {}


class StreamReader(Protocol):
    """Reads the events of one stream."""

    def read(self, data: bytes) -> Iterable[Event]:
        """The neutral events that one server-sent event comes to; `data` is what follows `data: `.
        Raises BrokenAnswer, WrongType or UpstreamError."""

    def end(self) -> Iterable[Event]:
        """The neutral events that the end of the stream comes to, the End among them unless `read`
        has returned it. Raises BrokenAnswer for a stream that ended before it was complete."""


class StreamWriter(Protocol):
    """Writes the events of one stream."""

    def write(self, event: Event) -> bytes:
        """Whole server-sent events for one neutral event, `b""` for none; for the End also the
        stream's end marker."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """One language of chat, readable and writable.

    `dialect` names the dialect that it belongs to; `path_suffix` ends the path of its operation,
    `stream_suffix` that of its streams where they have another.

    Requests: `read_request` raises WrongType. `write_request` writes a request for a target that
    calls the model so; what it cannot say it adds to the losses. `hints` are wildcards over its own
    fields that change no answer. `headers` are sent with each request.

    Answers: `read_answer` and `write_answer` treat one in one piece, `stream_reader` and
    `stream_writer` a stream; the request is the caller's. `read_error` reads the JSON of an error
    response, or None where it is no JSON.
    """

    name: str
    dialect: str
    path_suffix: str
    read_request: Callable[[bytes, RequestLine], ChatRequest]
    write_request: Callable[[ChatRequest, str, Losses], WrittenRequest]
    read_answer: Callable[[bytes], Iterable[Event]]
    write_answer: Callable[[Answer, ChatRequest], bytes]
    stream_reader: Callable[[], StreamReader]
    stream_writer: Callable[[ChatRequest], StreamWriter]
    read_error: Callable[[int, Any], UpstreamError]
    stream_suffix: str = ""
    hints: Patterns = field(default_factory=lambda: Patterns(()))
    headers: tuple[tuple[str, str], ...] = ()

    def speaks(self, path: str) -> bool:
        """Whether an operation with this path template is one of this language."""
        suffixes = (self.path_suffix, self.stream_suffix or self.path_suffix)
        return path.endswith(suffixes)
