"""Usage in answers and events of the OpenAI dialect, from its vendor and others who speak it."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine.dialects.interface.usage import Count, Meter, OutputMembers
from engine.dialects.interface.usage_counts import (
    MAX_COUNT,
    NO_PARTS,
    TokenParts,
    count,
    counts_in,
    object_in,
    seconds,
    token_usage,
)
from engine.values.trees import Json
from engine.values.usage import Usage

_REPEATS = re.compile(rb'"type"\s*+:\s*+"response\.[a-z_.]+\.done"')
_IMAGE_EVENTS = frozenset({"image_generation.completed", "image_edit.completed"})
_MAX_IMAGES = 1_000


def usage_of(document: object) -> Usage | None:
    """The usage (tokens, images, seconds) that an answer or an event reports.

    `prompt_tokens` and `input_tokens` include cached tokens. Vendors that count reasoning outside
    `completion_tokens` are recognised by `total_tokens` (xAI, Gemini's compatible API), or by its
    count outside of the details, beside that of searches or above the completion (Perplexity).
    """
    if not isinstance(document, dict):
        return None
    if "choices" in document and (simple := _simple_usage(document.get("usage"))) is not None:
        return simple
    inner = document.get("response")
    if isinstance(inner, dict):  # an event of the Responses or Realtime API
        document = inner
    counts = _counts(document)
    images, medium = 0, ""
    if "type" in document or "data" in document:  # no chat has one of them
        images = 0 if "choices" in document else _images(document)
        medium = _medium(document, images)
    usage = _token_usage(counts, medium, images)
    searches = count(counts.get("search_units")) or 0  # Cohere
    if usage is not None:
        return replace(usage, searches=searches) if searches else usage
    # Audio is paid by the second only where its tokens are not counted.
    audio_seconds = _audio_seconds(counts, document)
    if not images and not audio_seconds and not searches:
        return None
    return Usage(images=images, seconds=audio_seconds, searches=searches, source="upstream")


def _audio_seconds(counts: Json, document: Json) -> float:
    """The seconds of a recording, of which only verbose answers of Whisper's servers and of
    ElevenLabs tell outside of the counts."""
    places = counts.get("seconds"), document.get("duration"), document.get("audio_duration_secs")
    return next((number for place in places if (number := seconds(place))), 0.0)


def _counts(document: Json) -> Json:
    """The object that holds the counts, which vendors put in several places; empty for none."""
    usage: object = document.get("usage")
    if usage and isinstance(usage, dict):
        return usage
    object_in(document, "usage")  # says in the log that it is something else
    places = []
    groq, meta, choices = (document.get(key) for key in ("x_groq", "meta", "choices"))
    if isinstance(groq, dict):
        places.append(groq.get("usage"))
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        places.append(choices[0].get("usage"))  # Moonshot
    if isinstance(meta, dict):  # Cohere
        places += [meta.get("billed_units"), meta.get("tokens")]
    return next((place for place in places if isinstance(place, dict) and place), {})


_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")


class _Media(Struct):
    audio_tokens: Count = None
    image_tokens: Count = None


class _InputDetails(_Media):
    cached_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_input_tokens: Count = None


class _OutputDetails(_Media):
    reasoning_tokens: Count = None


_NO_INPUT, _NO_OUTPUT = _InputDetails(), _OutputDetails()


class _Counts(Struct):
    """The counts, with their details under each of the names that these have."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    input_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    cached_tokens: Count = None
    prompt_cache_hit_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    reasoning_tokens: Count = None
    citation_tokens: Count = None
    num_search_queries: Count = None
    prompt_audio_seconds: Count = None
    prompt_tokens_details: _InputDetails | None = None
    input_tokens_details: _InputDetails | None = None
    input_token_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    output_tokens_details: _OutputDetails | None = None
    output_token_details: _OutputDetails | None = None


def _token_usage(holder: Json, medium: str, images: int) -> Usage | None:
    """The usage of tokens. If the parts of the output are not reported, all of it is `medium`."""
    counts = counts_in(holder, _Counts)
    prompt, completion, total = counts.prompt_tokens, counts.completion_tokens, counts.total_tokens
    if prompt is None:
        prompt = counts.input_tokens
    if completion is None:
        completion = counts.output_tokens
    if prompt is None and completion is None and total is None:
        return None
    if prompt is None:
        prompt = max((total or 0) - (completion or 0), 0)
    parts = _output_parts(counts)
    output = completion or 0
    if (reasoning := counts.reasoning_tokens or 0) and not parts.reasoning:
        parts = replace(parts, reasoning=reasoning)
        if _is_apart(counts, reasoning, output):
            return token_usage(
                prompt, output + reasoning, _input_parts(holder, counts), parts, images
            )
    of_input = _input_parts(holder, counts)
    if total is not None and total - prompt - output == of_input.cached + of_input.cache_write > 0:
        prompt = total - output  # relays of Claude exclude the cache from the prompt
    elif counts.prompt_audio_seconds is not None:
        pass  # Mistral's total has the tokens of audio too, which is paid by the second alone
    elif total is not None and total > prompt + output:
        output = total - prompt
        if completion is not None:
            parts = replace(parts, reasoning=max(parts.reasoning, output - completion))
    if medium and not parts.audio and not parts.image:
        parts = replace(parts, **{medium: output})
    usage = token_usage(prompt, output, of_input, parts, images)
    audio_seconds = seconds(counts.prompt_audio_seconds)
    return replace(usage, seconds=audio_seconds) if audio_seconds else usage


def _is_apart(counts: _Counts, reasoning: int, completion: int) -> bool:
    """Whether a count of reasoning that is outside of the details is not part of the completion. At
    SGLang it is one; at Perplexity's research, which counts searches too, it is not."""
    of_research = counts.num_search_queries is not None or counts.citation_tokens is not None
    return of_research or reasoning > completion


_Details = TypeVar("_Details", bound=Struct)


def _first(nothing: _Details, *candidates: _Details | None) -> _Details:
    """The first of the details that has a count: some servers write all of their names."""
    for details in candidates:
        if details is not None and details != nothing:
            return details
    return nothing


def _input_parts(holder: Json, counts: _Counts) -> TokenParts:
    details = counts.prompt_tokens_details
    if details is None or details == _NO_INPUT:
        details = _first(_NO_INPUT, counts.input_tokens_details, counts.input_token_details)
    cached = details.cached_tokens
    if cached is None:
        cached = counts.cached_tokens
    if cached is None:
        cached = counts.prompt_cache_hit_tokens
    if cached is None:
        cached = counts.cache_read_input_tokens or 0
    write = details.cache_write_tokens
    if write is None:
        write = details.cache_creation_input_tokens
    if write is None:
        write = counts.cache_creation_input_tokens or 0
    audio, image = details.audio_tokens or 0, details.image_tokens or 0
    if not (cached or audio or image or write):
        return NO_PARTS
    if not (audio or image):
        return TokenParts(cached=cached, cache_write=write)
    members = object_in(holder, *_INPUT_DETAILS)
    of_cached = counts_in(object_in(members, "cached_tokens_details"), _Media)
    return TokenParts(
        audio=audio,
        image=image,
        cached=cached,
        cache_write=write,
        cached_audio=of_cached.audio_tokens or 0,
        cached_image=of_cached.image_tokens or 0,
    )


def _output_parts(counts: _Counts) -> TokenParts:
    details = counts.completion_tokens_details
    if details is None or details == _NO_OUTPUT:
        details = _first(_NO_OUTPUT, counts.output_tokens_details, counts.output_token_details)
    audio, image = details.audio_tokens or 0, details.image_tokens or 0
    reasoning = details.reasoning_tokens or 0
    if not (audio or image or reasoning):
        return NO_PARTS
    return TokenParts(audio=audio, image=image, reasoning=reasoning)


def _medium(document: Json, images: int) -> str:
    """`image` or `audio` for the output of an answer that is not text; "" for text."""
    return "image" if images else "audio" if document.get("type") == "speech.audio.done" else ""


_COUNTS = itemgetter("prompt_tokens", "completion_tokens", "total_tokens")


def _simple_usage(counts: object) -> Usage | None:
    """Fast path: the usage of an object with only the three counts that every server reports."""
    if type(counts) is not dict or len(counts) != 3:
        return None
    try:
        prompt, completion, total = _COUNTS(counts)
    except KeyError:
        return None
    is_valid = type(prompt) is type(completion) is int and prompt >= 0 <= completion
    if not is_valid or not prompt + completion == total <= MAX_COUNT:
        return None
    return Usage(prompt, completion, source="upstream")


def _images(document: Json) -> int:
    kind = document.get("type")
    if isinstance(kind, str) and kind in _IMAGE_EVENTS:
        return 1
    data = document.get("data")
    if not isinstance(data, list) or len(data) > _MAX_IMAGES:
        return 0
    return sum(
        isinstance(image, dict)
        and (isinstance(image.get("b64_json"), str) or isinstance(image.get("url"), str))
        for image in data
    )


_ZEROS = Usage(source="upstream")


class _UsageAndImages:
    """The last event with usage replaces the earlier ones, unless it has only zeros; each finished
    image is added."""

    def __init__(self) -> None:
        self.ended = False
        self._usage: Usage | None = None

    def take(self, document: object) -> None:
        usage = usage_of(document)
        if usage is None or (usage == _ZEROS and self._usage is not None):
            return
        self.ended = True
        self._usage = self._usage + usage if self._usage and usage.images else usage

    def usage(self) -> Usage | None:
        return self._usage


METER = Meter(
    usage_of=usage_of,
    tally=_UsageAndImages,
    members=("usage", "x_groq", "meta", "duration", "audio_duration_secs"),
    schema_members=("usage", "meta", "duration", "response"),
    image="b64_json",
    output=OutputMembers(
        (
            *("content", "text", "delta", "arguments", "input", "refusal"),
            *("reasoning", "reasoning_content", "thinking"),
        ),
        ("arguments",),
        _REPEATS,
    ),
)
