"""Usage: how an API reports it, how a request asks for it in a stream, and the members of a request
from which it is estimated.

Numbers of upstreams are not trusted: only a whole number within bounds is a count. What is none is
ignored, and said once in the log: an odd count costs nobody an answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, field

from engine.values.json_spans import Buffer
from engine.values.trees import Json
from engine.values.usage import OutputFields, Usage

MAX_COUNT = 500_000_000
"""The largest count that is accepted."""

MAX_SECONDS = 10_000_000.0

_MAX_DIGITS = 20

log = logging.getLogger("modelway")

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
    of images to generate."""

    output: OutputFields = field(default_factory=OutputFields)
    speech: CountedField | None = None
    images: CountedField | None = None


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


class TokenParts(Struct, frozen=True):
    """Parts of the input or the output of an answer, as an upstream reports them: see Usage."""

    audio: int = 0
    image: int = 0
    cached: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    cached_audio: int = 0
    cached_image: int = 0
    reasoning: int = 0


NO_PARTS = TokenParts()
_rare = attrgetter("cache_write", "audio", "image")
"""The parts that few reports have, and without which there are no others of their kind."""


def token_usage(
    tokens_in: int, tokens_out: int, of_input: TokenParts, of_output: TokenParts, images: int = 0
) -> Usage:
    """The usage that an upstream reported. Each part is limited to what the other parts leave of
    the total, so that no token counts twice even if the upstream's numbers contradict each
    other."""
    if of_input is NO_PARTS and of_output is NO_PARTS:
        return Usage(tokens_in, tokens_out, images=images, source="upstream")
    cached = min(of_input.cached, tokens_in)
    reasoning = min(of_output.reasoning, tokens_out)
    if not (any(_rare(of_input)) or any(_rare(of_output))):
        return Usage(tokens_in, tokens_out, cached, reasoning, images, source="upstream")
    write = min(of_input.cache_write, tokens_in - cached)
    audio = min(of_input.audio, tokens_in)
    image = min(of_input.image, tokens_in - audio)
    cached_audio = min(of_input.cached_audio, cached, audio)
    voice = min(of_output.audio, tokens_out - reasoning)
    return Usage(
        input=tokens_in,
        output=tokens_out,
        cached=cached,
        reasoning=reasoning,
        images=images,
        source="upstream",
        cache_write=write,
        cache_write_1h=min(of_input.cache_write_1h, write),
        audio_input=audio,
        cached_audio=cached_audio,
        audio_output=voice,
        image_input=image,
        cached_image=min(of_input.cached_image, cached - cached_audio, image),
        image_output=min(of_output.image, tokens_out - reasoning - voice),
    )


def count(value: object) -> int | None:
    """A whole number from 0 to MAX_COUNT; None for anything else. 12.0 is one too, and so is "12",
    as form fields have it, and as Protocol Buffers write large numbers."""
    if type(value) is int:
        return value if 0 <= value <= MAX_COUNT else None
    if type(value) is float and value.is_integer():
        return count(int(value))
    if type(value) is str and len(value) <= _MAX_DIGITS and value.strip().isdecimal():
        return count(int(value))
    return None


_KINDS = {"str": "a string", "list": "a list", "dict": "an object", "bool": "true or false"}


@lru_cache(maxsize=256)
def _ignore(member: str, kind: str) -> None:
    """Say in the log, once for each member and type, that a value is not read."""
    words = _KINDS.get(kind, f"no whole number from 0 to {MAX_COUNT}")
    log.warning("usage: '%s' in an upstream's answer is %s and is ignored", member, words)


def count_in(holder: Json, member: str) -> int | None:
    """The count in a member of an object; None, with a line in the log, for what is no count."""
    value = holder.get(member)
    number = count(value)
    if number is None and value is not None:
        _ignore(member, type(value).__name__)
    return number


def object_in(holder: Json, *members: str) -> Json:
    """The first of these members that is an object; an empty one, with a line in the log for what
    is something else, for none."""
    for member in members:
        if value := holder.get(member):
            if isinstance(value, dict):
                return value
            _ignore(member, type(value).__name__)
    return {}


def seconds(value: Any) -> float | None:
    """A number of seconds from 0 to MAX_SECONDS; None for anything else."""
    if type(value) in (int, float) and 0 <= value <= MAX_SECONDS:
        return float(value)
    return None


_Counts = TypeVar("_Counts", bound=Struct)


def counts_in(holder: object, kind: type[_Counts]) -> _Counts:
    """The counts in a JSON object, as a `kind`: a Struct of `Count`s, and of Structs of them. A
    member that is absent, not a count or not an object is None; if `holder` is not an object, all
    are None."""
    if not holder:
        return kind()
    try:
        return convert(holder, kind)
    except ValidationError:  # rare: 12.0, or a value that is not a count
        members, details = holder if isinstance(holder, dict) else {}, _details_of(kind)
        values: dict[str, object] = {}
        for name, member in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
            if name not in details:
                values[name] = count_in(members, member)
            elif counts := object_in(members, member):
                values[name] = counts_in(counts, details[name])
        return kind(**values)


@cache
def _details_of(kind: type[Struct]) -> Mapping[str, type[Struct]]:
    """The members of a Struct that are Structs."""
    return {
        name: each
        for name, hint in get_type_hints(kind).items()
        for each in get_args(hint)
        if isinstance(each, type) and issubclass(each, Struct)
    }
