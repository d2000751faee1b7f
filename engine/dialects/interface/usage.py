"""Usage: how an API reports it, how a request asks for it in a stream, and the members of a request
from which it is estimated.

Numbers of upstreams are not trusted: only a whole number within bounds is a count. What is none is
ignored, and said once in the log: an odd count costs nobody an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, Protocol

from msgspec import Meta, Struct, field

from engine.dialects.interface.usage_counts import MAX_COUNT
from engine.values.json_spans import Buffer
from engine.values.usage import OutputFields, Usage

Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)] | None
"""A count in a JSON object, None if it is absent or not valid: see `counts_in`."""


Edit = tuple[int, int, bytes]
"""Start and end of the replaced part of a body, and its replacement."""


class Tally(Protocol):
    """The usage that the events of one stream have reported so far.

    `ended` becomes true when the report is complete; until then the output is not known.
    """

    ended: bool

    def take(self, document: object) -> None:
        """Add one event's JSON, in the order of the stream. Never raises."""

    def usage(self) -> Usage | None:
        """The usage reported so far, None for none."""


class LastUsage:
    """A Tally for streams whose events report all usage up to them: the last report counts."""

    def __init__(self, usage_of: Callable[[object], Usage | None]) -> None:
        self.ended = False
        self._usage_of = usage_of
        self._usage: Usage | None = None

    def take(self, document: object) -> None:
        """Add one event's JSON."""
        self._usage = self._usage_of(document) or self._usage
        self.ended = self._usage is not None

    def usage(self) -> Usage | None:
        """The usage reported, None for none."""
        return self._usage


class OutputMembers(NamedTuple):
    """The members of answers whose `strings`, and those whose JSON `objects`, the model has
    written: texts, thoughts and the arguments of tool calls. Events that match `repeats` have
    output of events before them."""

    strings: tuple[str, ...]
    objects: tuple[str, ...] = ()
    repeats: re.Pattern[bytes] | None = None


_TEXTS = OutputMembers(("text",))


class Meter(Struct, frozen=True, kw_only=True):
    """How one dialect reports usage. Every function is pure, but for lines in the log, and accepts
    any JSON.

    `usage_of` reads a complete answer or one event, None when it reports nothing. `key` is the
    member that holds the counts, `other_key` its other spelling, "" for none; `tally` creates a
    Tally for a stream. `repeats`: each event reports all usage so far, so only the last one
    matters. `members` are the top-level members of an answer that `usage_of` reads, `image` the
    member that each image of an answer has.
    `schema_members`: an operation whose answers have none of these members has no usage.
    `output` are the members that are output, from which it is estimated.
    `excludes_cache`: the count of the input excludes the tokens of the prompt cache.
    """

    usage_of: Callable[[Any], Usage | None]
    tally: Callable[[], Tally]
    key: str = "usage"
    other_key: str = ""
    repeats: bool = False
    members: tuple[str, ...] = ("usage",)
    schema_members: tuple[str, ...] = ("usage",)
    output: OutputMembers = _TEXTS
    image: str = ""
    excludes_cache: bool = False


class CountedField(Struct, frozen=True):
    """A `member` of requests that is counted, in operations whose schema has it and all members of
    `companions`."""

    member: str
    companions: frozenset[str]


class RequestFields(Struct, frozen=True, kw_only=True):
    """The members of a dialect's requests from which usage is estimated. `output` bounds the answer
    in tokens; the text in `speech` is spoken and charged by the character; `images` is the number
    of images to generate; `audio` is the file that is transcribed and charged by the second;
    `searches` is the query of a reranking."""

    output: OutputFields = field(default_factory=OutputFields)
    speech: CountedField | None = None
    images: CountedField | None = None
    audio: CountedField | None = None
    searches: CountedField | None = None


class UsageOption(Struct, frozen=True, kw_only=True):
    """How a dialect asks for usage in a stream. Every function is pure.

    An operation has the option where a request's schema has the member `path`, and the events of
    its streams have the member `chunk_member`. `enable` returns the change to a JSON body, parsed
    as a value, that sets the option: None if it is set, or if there is no stream. `hide` removes
    from clean events the one that only reports usage, for callers that did not set it;
    `key` occurs in such an event.
    """

    path: tuple[str, str]
    chunk_member: str
    key: bytes
    enable: Callable[[Buffer, Any], Edit | None]
    hide: Callable[[bytes], bytes]
