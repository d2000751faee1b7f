"""The Gemini dialect: generate content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from engine.dialects.gemini.errors import error_object, is_error, stream_error
from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.model_list import ModelCard, ModelList, page_size
from engine.dialects.interface.streams import Framing, StreamRules, alt_is_sse
from engine.dialects.interface.usage import (
    Count,
    Meter,
    OutputMembers,
    RequestFields,
    TokenParts,
    count_in,
    counts_in,
    object_in,
    token_usage,
)
from engine.values.proto_json import json_name
from engine.values.usage import OutputFields, Usage

_MODELS = "models/"
_STREAM_SUFFIX = ":streamGenerateContent"
_MOST_MODALITIES = 20
_MOST_COUNTS = 32
_KEY = re.compile(r"(?:^|&)key=")


def _has_content(document: Any) -> bool:
    """False for a first event that only counts tokens."""
    if not isinstance(document, dict) or "promptFeedback" in document:
        return True
    if "candidates" not in document:
        return "usageMetadata" not in document
    candidates = document["candidates"] or []
    if not isinstance(candidates, list):
        return True
    return any(_candidate_has_content(c) for c in candidates if isinstance(c, dict))


def _candidate_has_content(candidate: dict[str, Any]) -> bool:
    content = candidate.get("content") or {}
    parts = content.get("parts") if isinstance(content, dict) else content
    return bool(candidate.get("finishReason") or parts)


def _ends(documents: Sequence[Any]) -> bool | None:
    """An answer ends with a finish reason, or with the reason why its prompt was blocked."""
    answers = [
        document
        for document in documents
        if isinstance(document, dict) and ("candidates" in document or _blocked(document))
    ]
    return any(_blocked(answer) or _has_finished(answer) for answer in answers) if answers else None


def _blocked(document: dict[str, Any]) -> bool:
    feedback = document.get("promptFeedback")
    return isinstance(feedback, dict) and bool(feedback.get("blockReason"))


def _has_finished(document: dict[str, Any]) -> bool:
    candidates = document.get("candidates")
    return isinstance(candidates, list) and any(
        isinstance(candidate, dict) and candidate.get("finishReason") for candidate in candidates
    )


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


def _usage_of(document: Any) -> Usage | None:
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


def _metadata(document: dict[str, Any]) -> dict[str, Any]:
    """`usageMetadata`, its members under their documented names."""
    holder = object_in(document, "usageMetadata", "usage_metadata")
    if "_" not in "".join(holder):
        return holder
    return {json_name(name): value for name, value in islice(holder.items(), _MOST_COUNTS)}


class _LastReports:
    """Each report has all counts up to it, or those that have changed: the last value of each one
    counts. A report without a count of the output, beside some, is not all of it."""

    def __init__(self) -> None:
        self.ended = False
        self._counts: dict[str, Any] = {}
        self._usage: Usage | None = None

    def take(self, document: Any) -> None:
        for answer in document if isinstance(document, list) else (document,):
            if isinstance(answer, dict):
                self._take(answer)

    def _take(self, answer: dict[str, Any]) -> None:
        metadata = _metadata(answer)
        for name in _COUNTS.intersection(metadata):
            if (number := count_in(metadata, name)) is not None:
                self._counts[name] = number
        for name in _MODALITIES.intersection(metadata):
            if isinstance(details := metadata.get(name), list):
                self._counts[name] = details
        if metadata:
            self._usage = _usage_of({"usageMetadata": self._counts})
        if self._usage is not None:
            self.ended = bool(self._usage.output) or not _has_parts(answer)

    def usage(self) -> Usage | None:
        return self._usage


def _has_parts(document: Any) -> bool:
    candidates = document.get("candidates") if isinstance(document, dict) else None
    contents = [
        candidate.get("content")
        for candidate in (candidates if isinstance(candidates, list) else ())
        if isinstance(candidate, dict)
    ]
    return any(isinstance(content, dict) and content.get("parts") for content in contents)


def _media(holder: dict[str, Any], *members: str) -> tuple[int, int]:
    """The tokens of audio, and those of images, in these members of `usageMetadata`."""
    audio = image = 0
    for member in members:
        details = holder.get(member)
        for detail in details[:_MOST_MODALITIES] if isinstance(details, list) else ():
            modality = detail.get("modality") if isinstance(detail, dict) else None
            if modality == "AUDIO":
                audio += _modality_count(detail)
            elif modality == "IMAGE":
                image += _modality_count(detail)
    return audio, image


def _modality_count(detail: dict[str, Any]) -> int:
    return count_in(detail, "tokenCount" if "tokenCount" in detail else "token_count") or 0


def _models(models: ModelList, parameters: Mapping[str, str]) -> Document:
    limit = page_size(parameters, "pageSize", 50)
    last = models.index(parameters.get("pageToken"))
    start = 0 if last is None else last + 1
    end = min(len(models), start + limit)
    answer: Document = {"models": models.documents[start:end]}
    if end < len(models):
        answer["nextPageToken"] = models.names[end - 1]
    return answer


def _model(card: ModelCard) -> Document:
    limits = {"inputTokenLimit": card.context, "outputTokenLimit": card.output}
    return {
        "name": f"{_MODELS}{card.name}",
        "baseModelId": card.name,
        "version": "1",
        "displayName": card.title,
        **{name: limit for name, limit in limits.items() if limit is not None},
        "supportedGenerationMethods": list(card.methods),
    }


def _claims(environ: Mapping[str, Any], query: str) -> bool:
    return "HTTP_X_GOOG_API_KEY" in environ or _KEY.search(query) is not None


def _wanted_framing(path: str, query: str, body: Any) -> Framing:
    if not unquote(path).endswith(_STREAM_SUFFIX):
        return Framing.WHOLE
    return Framing.EVENTS if alt_is_sse(query) else Framing.ARRAY


_GENERATE = ChatFormat(
    name="generate",
    title="Generate content",
    path_suffix=":generateContent",
    stream_suffix=_STREAM_SUFFIX,
    stream_query="alt=sse",
    sdk_suffix="",
    module="generate",
    curl_headers='-H "x-goog-api-key: $TOKEN"',
    arguments=lambda model: {"model": model, "contents": "Hello!"},
    body=lambda model: {"contents": [{"parts": [{"text": "Hello!"}]}]},
    programs={
        "python": Program(
            start="""import os
from google import genai

client = genai.Client(
    api_key=os.environ["TOKEN"],
    http_options={"base_url": @BASE@, "api_version": @VERSION@},
)""",
            call="client.models.generate_content",
            stream="client.models.generate_content_stream",
            on_event='print(event.text or "", end="", flush=True)',
            on_answer="print(answer.text)",
        ),
        "javascript": Program(
            start="""import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.TOKEN,
  httpOptions: { baseUrl: @BASE@, apiVersion: @VERSION@ },
});""",
            call="client.models.generateContent",
            stream="client.models.generateContentStream",
            on_event='process.stdout.write(event.text ?? "");',
            on_answer="console.log(answer.text);",
        ),
    },
)

# Requests have the names of their document, which may be those of the .proto files.
_CONFIGS = ("generationConfig", "generation_config")

DIALECT = Dialect(
    name="gemini",
    claims=_claims,
    error=error_object,
    is_error=is_error,
    error_event=lambda body: b"data: " + body + b"\n\n",
    stream_error=stream_error,
    models=_models,
    model=_model,
    model_prefix=_MODELS,
    has_content=_has_content,
    ends=_ends,
    wanted_framing=_wanted_framing,
    array_streams=True,
    meter=Meter(
        usage_of=_usage_of,
        tally=_LastReports,
        key="usageMetadata",
        other_key="usage_metadata",
        repeats=True,
        members=("usageMetadata", "usage_metadata"),
        schema_members=("usageMetadata", "usage_metadata"),
        output=OutputMembers(("text", "name", "stringValue", "string_value", "code"), ("args",)),
    ),
    prompt_members=("systemInstruction", "system_instruction", "contents"),
    request_fields=RequestFields(
        output=OutputFields(
            limits=tuple(product(_CONFIGS, ("maxOutputTokens", "max_output_tokens"))),
            answers=tuple(product(_CONFIGS, ("candidateCount", "candidate_count"))),
        )
    ),
    json_name=json_name,
    request_headers=("x-goog-api-client", "x-server-timeout", "x-client-request-id"),
    response_headers=(
        *("x-goog-request-id", "x-gemini-*", "x-vertex-ai-*"),
        *("x-amzn-requestid", "x-amzn-bedrock-*"),
    ),
    hidden_headers=frozenset({"set-cookie"}),
    stream=StreamRules(names=False, comments=False, end_marker=False),
    provider="gcp.gemini",
    operation_names={
        "embedContent": "embeddings",
        "batchEmbedContents": "embeddings",
        "generateContent": "generate_content",
        "streamGenerateContent": "generate_content",
    },
    chat_formats=(_GENERATE,),
    tasks={
        "enerateContent": "chat",  # generateContent and streamGenerateContent
        ":countTokens": "chat",
        ":embedContent": "embedding",
        ":batchEmbedContents": "embedding",
    },
)
