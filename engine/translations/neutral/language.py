"""A language of chat: what each folder of `translations/` that is one defines as `LANGUAGE`.

Everything is sans-IO: bytes in and bytes out, no socket, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
from msgspec import Struct, field

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import SEAL, Changes
from engine.translations.neutral.events import Event, UpstreamError
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.values.wildcard import Patterns


class Feature(NamedTuple):
    """A field of requests, or a kind of value in one, by its `name`. `members` replace members of
    the minimal request to make one that uses the feature."""

    group: str
    name: str
    members: Mapping[str, Any]


def each_alone(group: str, inside: str = "", **members: object) -> list[Feature]:
    """A feature for each of these members, or members `inside` another one, called like it."""
    alone = {name: {name: value} for name, value in members.items()}
    return [Feature(group, name, {inside: o} if inside else o) for name, o in alone.items()]


class Features(NamedTuple):
    """The features of a language, and the members of the `least` request, which uses none."""

    least: Mapping[str, Any]
    features: Sequence[Feature] = ()

    def request(self, feature: Feature, model: str) -> bytes:
        """The body of a request that uses a feature."""
        return msgspec.json.encode({"model": model, **self.least, **feature.members})

    def fields(self) -> Iterator[str]:
        """The fields of all these requests, without indexes: `messages.content.file`."""
        yield from _fields(self.least, "")
        for feature in self.features:
            yield from _fields(feature.members, "")


def _fields(value: object, place: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, below in value.items():
            field = f"{place}.{name}" if place else name
            yield field
            yield from _fields(below, field)
    elif isinstance(value, list):
        for entry in value:
            yield from _fields(entry, place)


class RequestLine(Struct):
    """The data of a request outside of its body: the model, whether a stream is requested and the
    query, for languages that have them in the URL; the gateway's request id; the time in Unix
    seconds; whether the operation is the one that compacts a conversation, and what seals a summary
    for the caller, None if nothing can."""

    model: str = ""
    stream: bool = False
    query: str = ""
    id: str = ""
    time: int = 0
    compacts: bool = False
    seal: Callable[[str], str] | None = None


class TargetRequest(Struct):
    """A request for a target. `path` is appended to the base path of the upstream. `tool_names` are
    the callers' names of tools by the names that the target gets; `answer_tool` is the name of a
    tool whose arguments are the text of the answer ("" for none). `first_call`: of the calls in an
    answer only the first is wanted, which the target could not be told."""

    body: bytes
    path: str
    query: str = ""
    tool_names: dict[str, str] = {}
    answer_tool: str = ""
    first_call: bool = False


class StreamReader(Protocol):
    """Reads the events of one stream."""

    def read(self, data: bytes) -> Iterable[Event]:
        """The neutral events of one server-sent event; `data` is its data field. Raises
        BrokenAnswer, WrongType or UpstreamError."""

    def end(self) -> Iterable[Event]:
        """The neutral events at the end of the stream, with the End unless `read` has returned it.
        Raises BrokenAnswer for a stream that ended before it was complete."""


class StreamWriter(Protocol):
    """Writes the events of one stream."""

    def write(self, event: Event) -> bytes:
        """Whole server-sent events for one neutral event, `b""` for none; for the End also the
        stream's end marker."""


class BaseLanguage(Struct, frozen=True, kw_only=True, eq=False):
    """The common part of the languages of all families (chat, embeddings).

    `dialect` names the dialect that it belongs to; `path_suffix` ends the path of its operation,
    `stream_suffix` that of its streams where they have another. `hints` are wildcards over its own
    fields that change no answer. `headers` are sent with each request. `features` are
    those of its requests. `read_error` reads the JSON of an error response, None if it is not JSON.

    `without_seals` are the changes of a request's JSON value that remove the signatures which were
    sealed for other vendors; `seal` is a part of the JSON text of each of them.
    """

    name: str
    dialect: str
    path_suffix: str
    read_error: Callable[[int, Any], UpstreamError]
    most_tokens: Callable[[str], int | None] = lambda model: None
    stream_suffix: str = ""
    hints: Patterns = field(default_factory=lambda: Patterns(()))
    headers: tuple[tuple[str, str], ...] = ()
    features: Features = Features({})
    without_seals: Callable[[Any], Changes] = lambda _: {}
    seal: bytes = SEAL.encode()

    def speaks(self, path: str) -> bool:
        """Whether an operation with this path template is one of this language."""
        return path.endswith((self.path_suffix, self.stream_suffix or self.path_suffix))


class TokenCount(Struct, frozen=True, kw_only=True):
    """The operation that counts tokens: the suffix of its path, and what writes it."""

    path_suffix: str
    write: Callable[[int], bytes]


class TargetLanguage(BaseLanguage, frozen=True, kw_only=True, eq=False):
    """One language of chat that targets speak.

    `write_request` writes a request with the target's name for the model; parts without a form in
    the language are added to the losses. `read_answer` reads a complete answer, `stream_reader` a
    stream. `most_tokens` returns the token limit of a model's answers, None if it is unknown.
    `example_answer` is a short complete answer. `providers` are those in whose files is what its
    models accept.
    """

    write_request: Callable[[ChatRequest, str, Losses], TargetRequest]
    read_answer: Callable[[bytes], Iterable[Event]]
    stream_reader: Callable[[], StreamReader]
    example_answer: bytes = b"{}"
    providers: tuple[str, ...] = ()


class Language(TargetLanguage, frozen=True, kw_only=True, eq=False):
    """One language of chat that callers also speak.

    `read_request` raises WrongType. `write_answer` writes a complete answer, `stream_writer` a
    stream, both to the caller's request. `token_count` is the operation that counts the tokens of a
    request, None if the dialect has none. `needs_turns`: a request with only instructions is
    invalid. An operation whose path ends with `compact_suffix` compacts a conversation, "" for
    none. The arguments of calls are texts in `text_arguments` of its answers: a model may write one
    that is not JSON, and the caller tells it so.
    """

    read_request: Callable[[bytes, RequestLine], ChatRequest]
    write_answer: Callable[[Answer, ChatRequest], bytes]
    stream_writer: Callable[[ChatRequest], StreamWriter]
    token_count: TokenCount | None = None
    needs_turns: bool = False
    compact_suffix: str = ""
    text_arguments: Literal["none", "streams", "all"] = "none"

    def speaks(self, path: str) -> bool:
        """Whether an operation with this path template is one of this language."""
        return super().speaks(path) or self.compacts(path)

    def compacts(self, path: str) -> bool:
        """Whether an operation with this path template compacts a conversation."""
        return bool(self.compact_suffix) and path.endswith(self.compact_suffix)
