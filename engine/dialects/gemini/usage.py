"""Usage in the answers of the Gemini dialect (`usageMetadata`), and in messages of its Live API."""

from __future__ import annotations

from itertools import islice

from msgspec import Struct

from engine.dialects.gemini.proto_json import json_name
from engine.dialects.interface.usage import Count, Meter, OutputMembers
from engine.dialects.interface.usage_counts import (
    TokenParts,
    count_in,
    counts_in,
    object_in,
    token_usage,
)
from engine.values.event_json import json_object
from engine.values.trees import Json
from engine.values.usage import Usage

_MAX_MODALITIES = 20
_MAX_COUNTS = 32
_USAGE = b'"usageMetadata"'
_MAX_MESSAGE = 1_000_000


class _Counts(Struct, rename="camel"):
    prompt_token_count: Count = None
    tool_use_prompt_token_count: Count = None
    candidates_token_count: Count = None
    response_token_count: Count = None
    thoughts_token_count: Count = None
    total_token_count: Count = None
    cached_content_token_count: Count = None


_COUNTS = frozenset(_Counts.__struct_encode_fields__)
_MODALITIES = frozenset(
    {"promptTokensDetails", "toolUsePromptTokensDetails", "cacheTokensDetails"}
    | {"candidatesTokensDetails", "responseTokensDetails"}
)


def usage_of(document: object) -> Usage | None:
    """The usage that an answer, an event, or the array of a stream reports.

    `candidatesTokenCount` excludes thoughts, unless the total shows that it includes them.
    """
    if isinstance(document, list):
        reports = _LastReports()
        reports.take(document)
        return reports.usage()
    holder = _metadata(document) if isinstance(document, dict) else {}
    counts = counts_in(holder, _Counts)
    prompt, answer = counts.prompt_token_count, counts.candidates_token_count
    tools, total = counts.tool_use_prompt_token_count, counts.total_token_count
    thoughts = counts.thoughts_token_count
    if answer is None:
        answer = counts.response_token_count
    if prompt is None and tools is None and answer is None and thoughts is None and total is None:
        return None
    input_tokens = (prompt or 0) + (tools or 0)
    output = answer or 0
    if thoughts and (total is None or total > input_tokens + output):
        output += thoughts
    if prompt is None and total is not None:
        input_tokens = max(input_tokens, total - output)
    elif answer is None and total is not None:
        output = max(output, total - input_tokens)
    audio, image = _media(holder, "promptTokensDetails", "toolUsePromptTokensDetails")
    cached_audio, cached_image = _media(holder, "cacheTokensDetails")
    of_input = TokenParts(
        audio=audio,
        image=image,
        cached=counts.cached_content_token_count or 0,
        cached_audio=cached_audio,
        cached_image=cached_image,
    )
    audio, image = _media(holder, "candidatesTokensDetails", "responseTokensDetails")
    of_output = TokenParts(audio=audio, image=image, reasoning=thoughts or 0)
    return token_usage(input_tokens, output, of_input, of_output)


def _metadata(document: Json) -> Json:
    """`usageMetadata`, its members under their documented names."""
    holder = object_in(document, "usageMetadata", "usage_metadata")
    if not holder and isinstance(inner := document.get("response"), dict):  # Cloud Code
        return _metadata(inner)
    if "_" not in "".join(holder):
        return holder
    return {json_name(name): value for name, value in islice(holder.items(), _MAX_COUNTS)}


class _LastReports:
    """Each report has all counts up to it, or those that have changed: the last value of each one
    counts. A report without a count of the output, beside some, is not all of it."""

    def __init__(self) -> None:
        self.ended = False
        self._counts: Json = {}
        self._usage: Usage | None = None

    def take(self, document: object) -> None:
        for answer in document if isinstance(document, list) else (document,):
            if isinstance(answer, dict):
                self._take(answer)

    def _take(self, answer: Json) -> None:
        metadata = _metadata(answer)
        for name in _COUNTS.intersection(metadata):
            if (number := count_in(metadata, name)) is not None:
                self._counts[name] = number
        for name in _MODALITIES.intersection(metadata):
            if isinstance(details := metadata.get(name), list):
                self._counts[name] = details
        if metadata:
            self._usage = usage_of({"usageMetadata": self._counts})
        if self._usage is not None:
            self.ended = bool(self._usage.output) or not _has_parts(answer)

    def usage(self) -> Usage | None:
        return self._usage


def _has_parts(document: object) -> bool:
    candidates = document.get("candidates") if isinstance(document, dict) else None
    contents = [
        candidate.get("content")
        for candidate in (candidates if isinstance(candidates, list) else ())
        if isinstance(candidate, dict)
    ]
    return any(isinstance(content, dict) and content.get("parts") for content in contents)


def _media(holder: Json, *members: str) -> tuple[int, int]:
    """The tokens of audio, and those of images, in these members of `usageMetadata`."""
    audio = image = 0
    for member in members:
        details = holder.get(member)
        for detail in details[:_MAX_MODALITIES] if isinstance(details, list) else ():
            modality = detail.get("modality") if isinstance(detail, dict) else None
            if modality == "AUDIO":
                audio += _modality_count(detail)
            elif modality == "IMAGE":
                image += _modality_count(detail)
    return audio, image


def _modality_count(detail: Json) -> int:
    return count_in(detail, "tokenCount" if "tokenCount" in detail else "token_count") or 0


METER = Meter(
    usage_of=usage_of,
    tally=_LastReports,
    key="usageMetadata",
    other_key="usage_metadata",
    repeats=True,
    members=("usageMetadata", "usage_metadata"),
    schema_members=("usageMetadata", "usage_metadata"),
    output=OutputMembers(("text", "name", "stringValue", "string_value", "code"), ("args",)),
)


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """The usage that a message of the server reports: the tokens of a turn, by modality."""
    if message.find(_USAGE) < 0 or len(message) > _MAX_MESSAGE:
        return None
    document = json_object(message)
    return usage_of(document) if "usageMetadata" in document else None
