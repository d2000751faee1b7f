"""Reads counts of tokens from what upstreams report."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_type_hints

from msgspec import Struct, ValidationError, convert

from engine.values.trees import Json
from engine.values.usage import Usage

log = logging.getLogger("modelway")
_MAX_DIGITS = 20
_rare = attrgetter("cache_write", "audio", "image")
"""The parts that few reports have, and without which there are no others of their kind."""
_KINDS = {"str": "a string", "list": "a list", "dict": "an object", "bool": "true or false"}
_Counts = TypeVar("_Counts", bound=Struct)
MAX_COUNT = 500_000_000
"""The largest count that is accepted."""
MAX_SECONDS = 10_000_000.0
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,30})?")


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
    """A number of seconds from 0 to MAX_SECONDS, or the text of one, as OpenAI first wrote it; None
    for anything else."""
    if type(value) is str and _SECONDS.fullmatch(value):
        value = float(value)
    if type(value) in (int, float) and 0 <= value <= MAX_SECONDS:
        return float(value)
    return None


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


NO_PARTS = TokenParts()
