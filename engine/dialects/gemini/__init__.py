"""The Gemini dialect: generate content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from urllib.parse import unquote

from engine.dialects.gemini.auth_tokens import AUTH_TOKENS
from engine.dialects.gemini.errors import error_object, is_error, stream_error
from engine.dialects.gemini.files import BATCHES, FILES
from engine.dialects.gemini.proto_json import json_name
from engine.dialects.gemini.usage import METER, socket_usage
from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.model_list import MAX_PAGE, ModelCard, ModelList, page_size
from engine.dialects.interface.streams import Framing, StreamRules, alt_is_sse, index_in
from engine.dialects.interface.usage import RequestFields
from engine.values.trees import Json
from engine.values.usage import OutputFields

_NO_REASONS = (None, "", "FINISH_REASON_UNSPECIFIED")

_MODELS = "models/"
_PAGE, _PAGE_DIGITS = 50, 10
"""The default size of a page of models, and the most digits of one."""
_STREAM_SUFFIX = ":streamGenerateContent"
_KEY = re.compile(r"(?:^|&)key=")


_HEAD = frozenset({"usageMetadata", "modelVersion", "responseId", "createTime", "modelStatus"})


def _has_content(document: object) -> bool:
    """False for an event that only names the answer or counts tokens."""
    if not isinstance(document, dict) or "promptFeedback" in document:
        return True
    if "candidates" not in document:
        return _HEAD.isdisjoint(document)
    candidates = document["candidates"] or []
    if not isinstance(candidates, list):
        return True
    return any(_candidate_has_content(c) for c in candidates if isinstance(c, dict))


def _candidate_has_content(candidate: Json) -> bool:
    content = candidate.get("content") or {}
    parts = content.get("parts") if isinstance(content, dict) else content
    return bool(candidate.get("finishReason") or parts)


def _ends(documents: Sequence[object]) -> bool | None:
    """An answer ends with a finish reason, or with the reason why its prompt was blocked."""
    answers = [
        document
        for document in documents
        if isinstance(document, dict) and ("candidates" in document or _blocked(document))
    ]
    return any(_blocked(answer) or _has_finished(answer) for answer in answers) if answers else None


def _blocked(document: Json) -> bool:
    feedback = document.get("promptFeedback")
    return isinstance(feedback, dict) and bool(feedback.get("blockReason"))


def _has_finished(document: Json) -> bool:
    candidates = document.get("candidates")
    return isinstance(candidates, list) and any(
        isinstance(candidate, dict) and candidate.get("finishReason") not in _NO_REASONS
        for candidate in candidates
    )


def _choices_in(document: object) -> Iterator[tuple[int, bool]]:
    """The index of each candidate with content or an end, and whether it has its end."""
    candidates = document.get("candidates") if isinstance(document, dict) else None
    for position, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
        if isinstance(candidate, dict) and _candidate_has_content(candidate):
            yield index_in(candidate, position), candidate.get("finishReason") not in _NO_REASONS


def _models(models: ModelList, parameters: Mapping[str, str]) -> Document:
    limit = _page_size(parameters)
    last = models.index(parameters.get("pageToken"))
    start = 0 if last is None else last + 1
    end = min(len(models), start + limit)
    answer: Document = {"models": models.documents[start:end]}
    if end < len(models):
        answer["nextPageToken"] = models.names[end - 1]
    return answer


def _page_size(parameters: Mapping[str, str]) -> int:
    """The size of a page; as Google's lists read it, 0 is the default, and what is above the
    largest is the largest."""
    text = parameters.get("pageSize", "")
    if text.isascii() and text.isdigit() and len(text) <= _PAGE_DIGITS:
        return min(int(text), MAX_PAGE) or _PAGE
    return page_size(parameters, "pageSize", _PAGE)


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


def _claims(environ: Mapping[str, object], query: str) -> bool:
    return "HTTP_X_GOOG_API_KEY" in environ or _KEY.search(query) is not None


def _wanted_framing(path: str, query: str, body: object) -> Framing:
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
    socket_usage=socket_usage,
    mock_live="gemini_live",
    has_content=_has_content,
    ends=_ends,
    choices=_choices_in,
    wanted_framing=_wanted_framing,
    array_streams=True,
    meter=METER,
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
    batches=BATCHES,
    client_secrets=AUTH_TOKENS,
    files=FILES,
    provider="gcp.gemini",
    operation_names={
        "embedContent": "embeddings",
        "batchEmbedContents": "embeddings",
        "generateContent": "generate_content",
        "streamGenerateContent": "generate_content",
    },
    chat_formats=(_GENERATE,),
    answer_members={
        ":generateContent": ("candidates", "promptFeedback", "prompt_feedback"),
        ":embedContent": ("embedding",),
        ":batchEmbedContents": ("embeddings",),
    },
    tasks={
        "enerateContent": "chat",  # generateContent and streamGenerateContent
        ":countTokens": "chat",
        ":embedContent": "embedding",
        ":batchEmbedContents": "embedding",
    },
)
