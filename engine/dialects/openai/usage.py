"""Usage in answers and events of the OpenAI dialect, from its vendor and others who speak it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from engine.dialects.interface.usage import MOST, Meter, count, first, seconds
from engine.values.usage import Usage

_IMAGE_EVENTS = frozenset({"image_generation.completed", "image_edit.completed"})
_MOST_IMAGES = 1_000


def usage_of(document: Any) -> Usage | None:
    """The usage (tokens, images, seconds) that an answer or an event reports.

    `prompt_tokens` and `input_tokens` include cached tokens. Vendors that count reasoning outside
    `completion_tokens` (xAI, Gemini's compatible API) are recognised by `total_tokens`.
    """
    if not isinstance(document, dict):
        return None
    if "choices" in document and (simple := _simple_usage(document.get("usage"))) is not None:
        return simple
    inner = document.get("response")
    if isinstance(inner, dict):  # an event of the Responses or Realtime API
        document = inner
    counts = _counts(document)
    tokens = _tokens(counts)
    images = 0 if "choices" in document else _images(document)
    if tokens is not None:
        return Usage(*tokens, images, source="upstream")
    # Audio is paid by the second only where its tokens are not counted.
    audio_seconds = seconds(counts.get("seconds")) or seconds(document.get("duration")) or 0.0
    if not images and not audio_seconds:
        return None
    return Usage(images=images, seconds=audio_seconds, source="upstream")


def _counts(document: dict[str, Any]) -> dict[str, Any]:
    """The object that holds the counts, which vendors put in several places; empty for none."""
    usage = document.get("usage")
    if isinstance(usage, dict) and usage:
        return usage
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
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")


def _tokens(counts: dict[str, Any]) -> tuple[int, int, int, int] | None:
    """Input and output tokens, and of them those from a cache and those of reasoning."""
    prompt, completion = count(counts.get("prompt_tokens")), count(counts.get("completion_tokens"))
    if prompt is None:
        prompt = count(counts.get("input_tokens"))
    if completion is None:
        completion = count(counts.get("output_tokens"))
    total = count(counts.get("total_tokens"))
    if prompt is None and completion is None and total is None:
        return None
    if prompt is None:
        prompt = max((total or 0) - (completion or 0), 0)
    cached = _detail(counts, "cached_tokens", _INPUT_DETAILS)
    if cached is None:
        cached = first(counts, "cached_tokens", "prompt_cache_hit_tokens") or 0
    reasoning = _detail(counts, "reasoning_tokens", _OUTPUT_DETAILS) or 0
    output = completion or 0
    if total is not None and completion is not None and total > prompt + completion:
        output = total - prompt
        reasoning = max(reasoning, output - completion)
    return prompt, output, min(cached, prompt), min(reasoning, output)


_COUNTS = itemgetter("prompt_tokens", "completion_tokens", "total_tokens")


def _simple_usage(counts: Any) -> Usage | None:
    """Fast path: the usage of an object with only the three counts that every server reports."""
    if type(counts) is not dict or len(counts) != 3:
        return None
    try:
        prompt, completion, total = _COUNTS(counts)
    except KeyError:
        return None
    is_valid = type(prompt) is type(completion) is int and prompt >= 0 <= completion
    if not is_valid or not prompt + completion == total <= MOST:
        return None
    return Usage(prompt, completion, source="upstream")


def _detail(counts: dict[str, Any], name: str, members: Sequence[str]) -> int | None:
    for member in members:
        if member in counts and (value := first(counts[member], name)) is not None:
            return value
    return None


def _images(document: dict[str, Any]) -> int:
    kind = document.get("type")
    if isinstance(kind, str) and kind in _IMAGE_EVENTS:
        return 1
    data = document.get("data")
    if not isinstance(data, list) or len(data) > _MOST_IMAGES:
        return 0
    return sum(
        isinstance(image, dict)
        and (isinstance(image.get("b64_json"), str) or isinstance(image.get("url"), str))
        for image in data
    )


class _UsageAndImages:
    """The last event with usage replaces the earlier ones; each finished image is added."""

    def __init__(self) -> None:
        self.ended = False
        self._usage: Usage | None = None

    def take(self, document: Any) -> None:
        usage = usage_of(document)
        if usage is None:
            return
        self.ended = True
        self._usage = self._usage + usage if self._usage and usage.images else usage

    def usage(self) -> Usage | None:
        return self._usage


METER = Meter(
    usage_of=usage_of,
    tally=_UsageAndImages,
    members=("usage", "x_groq", "meta", "duration"),
    schema_members=("usage", "meta", "duration", "response"),
    image="b64_json",
    text_members=(
        *("content", "text", "delta", "arguments", "refusal"),
        *("reasoning", "reasoning_content", "thinking"),
    ),
)
