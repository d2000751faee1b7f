"""The OpenAI dialect, which most vendors and servers speak; also the default.

Read `errors.py`, `usage.py`, `chat_formats.py` and `realtime.py` for its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.error_forms import FAILED_REASONS, NO_REASONS
from engine.dialects.interface.model_list import ModelCard, ModelList
from engine.dialects.interface.rate_limits import RateLimitHeaders, read_duration, write_duration
from engine.dialects.interface.streams import (
    END_MARKER,
    UNTYPED,
    StreamRules,
    index_in,
    with_type,
)
from engine.dialects.interface.usage import CountedField, RequestFields
from engine.dialects.openai.chat_formats import CHAT_FORMATS
from engine.dialects.openai.errors import (
    error_event,
    error_object,
    failed_response_event,
    is_error,
    is_error_event,
    stream_error,
)
from engine.dialects.openai.files import BATCHES, FILES
from engine.dialects.openai.realtime import CLIENT_SECRETS, socket_error, socket_total, socket_usage
from engine.dialects.openai.streams import USAGE_OPTION, events_of
from engine.dialects.openai.usage import METER
from engine.values.trees import Json
from engine.values.usage import OutputFields

_OPENING_EVENTS = frozenset(
    {"response.created", "response.in_progress", "response.queued"}
    | {"response.output_item.added", "response.content_part.added"}
)


def list_models(models: ModelList, parameters: Mapping[str, str]) -> Document:
    """The answer to GET /v1/models."""
    return {"object": "list", "data": models.documents}


def show_model(card: ModelCard) -> Document:
    """The answer to GET /v1/models/{model}."""
    return {"id": card.name, "object": "model", "created": card.created, "owned_by": card.owner}


def has_content(document: object) -> bool:
    """False for the events that begin a stream: a role, an id, an empty choice."""
    if not isinstance(document, dict):
        return True
    kind = document.get("type")
    if isinstance(kind, str):
        return kind not in _OPENING_EVENTS
    choices = document.get("choices")
    if not isinstance(choices, list):
        return True
    return any(_choice_has_content(choice) for choice in choices if isinstance(choice, dict))


# The last events of the streams whose events have a type, and the beginnings of these types.
_LAST_EVENTS = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.done"}
    | {"transcript.text.done"}
    | {"image_generation.completed", "image_edit.completed", "speech.audio.done"}
)
_TYPES = ("response.", "transcript.text.", "image_generation.", "image_edit.", "speech.audio.")
_ODDITY = re.compile(rb'(?m)"role"\s*+:\s*+""|' + UNTYPED % rb"response\.[a-z_.]+")
"""The role of deltas of MiniMax, GLM and others, which SDKs that validate them refuse
(https://github.com/anomalyco/opencode/issues/28427): in a text its quotation marks are escaped. And
events of responses whose type is their name alone (https://github.com/butterbase-ai/butterbase/pull/130)."""
_END_MARKER = END_MARKER.decode()
_NO_ENDS = (*FAILED_REASONS, *NO_REASONS)


def ends(documents: Sequence[object]) -> bool | None:
    """Events with a type have a last one. A chat ends with a finish reason or `[DONE]`: some
    servers leave out the one, some the other."""
    events = [document for document in documents if isinstance(document, dict)]
    kinds = {kind for event in events if isinstance(kind := event.get("type"), str)}
    if not kinds.isdisjoint(_LAST_EVENTS):
        return True
    if any(kind.startswith(_TYPES) for kind in kinds):
        return False
    chunks = [choices for event in events if isinstance(choices := event.get("choices"), list)]
    if not chunks:
        return None
    return _END_MARKER in documents or any(map(_finish_reasons, chunks))


def _finish_reasons(choices: list[object]) -> list[object]:
    chunks = [choice for choice in choices if isinstance(choice, dict)]
    reasons = (each.get("finish_reason") or each.get("finishReason") for each in chunks)
    return [reason for reason in reasons if reason and reason not in _NO_ENDS]


def choices_in(document: object) -> Iterator[tuple[int, bool]]:
    """The index of each choice with content or an end, and whether it has its end."""
    choices = document.get("choices") if isinstance(document, dict) else None
    for position, choice in enumerate(choices if isinstance(choices, list) else ()):
        has_end = bool(_finish_reasons([choice]))
        if has_end or (isinstance(choice, dict) and _choice_has_content(choice)):
            yield index_in(choice, position), has_end


def _choice_has_content(choice: Json) -> bool:
    delta = choice.get("delta") or choice.get("message") or {}
    if choice.get("text") or choice.get("finish_reason") not in (None, "", False, *NO_REASONS):
        return True
    return isinstance(delta, dict) and any(v for key, v in delta.items() if key != "role")


def _remedy(odd: re.Match[bytes]) -> bytes:
    return with_type(odd[1], odd[2]) if odd[1] else b'"role":"assistant"'


DIALECT = Dialect(
    name="openai",
    error=error_object,
    is_error=is_error,
    error_event=error_event,
    stream_error=stream_error,
    is_error_event=is_error_event,
    error_types=frozenset({"error", "response.failed"}),
    error_events={"/responses": failed_response_event},
    models=list_models,
    model=show_model,
    has_content=has_content,
    events_of=events_of,
    stream=StreamRules(oddity=_ODDITY, remedy=_remedy),
    ends=ends,
    choices=choices_in,
    request_fields=RequestFields(
        output=OutputFields(
            limits=(("max_completion_tokens",), ("max_tokens",), ("max_output_tokens",)),
            answers=(("n",),),
        ),
        speech=CountedField("input", frozenset({"voice"})),
        images=CountedField("n", frozenset({"prompt", "size"})),
        audio=CountedField("file", frozenset({"model", "response_format", "temperature"})),
        searches=CountedField("query", frozenset({"documents"})),
    ),
    meter=METER,
    usage_option=USAGE_OPTION,
    heartbeat=b": keep-alive\n\n",
    request_headers=(
        *("openai-beta", "idempotency-key", "x-client-request-id"),
        # Codex and similar clients name themselves and the requests that belong together.
        *("originator", "version", "session-id", "thread-id", "conversation-id"),
        *("x-session-id", "x-session-affinity", "x-openai-subagent", "x-codex-turn-state"),
        *("x-codex-turn-metadata", "x-codex-beta-features", "x-codex-window-id"),
        *("x-codex-parent-thread-id", "x-codex-installation-id"),
    ),
    response_headers=(
        *("openai-processing-ms", "openai-version", "openai-model", "x-codex-*"),
        *("cf-ray", "x-reasoning-included", "x-models-etag"),
        # Of other vendors with this dialect, or whose answers are translated into it: Azure,
        # Amazon, Mistral, Groq, DeepSeek, Fireworks, Cohere.
        *("apim-request-id", "x-ms-client-request-id", "x-ms-request-id", "x-ms-region"),
        *("x-amzn-requestid", "x-amzn-bedrock-*"),
        *("mistral-correlation-id", "x-groq-region", "x-ds-trace-id", "fireworks-*"),
        *("x-debug-trace-id", "x-endpoint-monthly-call-limit", "x-trial-endpoint-call-*"),
    ),
    # They name the organization and the project of the gateway's account.
    hidden_headers=frozenset({"set-cookie", "openai-organization", "openai-project"}),
    rate_limits=RateLimitHeaders("x-ratelimit-{part}-{kind}", read_duration, write_duration),
    exposed_headers=("openai-processing-ms", "openai-version", "openai-model"),
    # Not forwarded: subprotocols that name an organization or a project of the caller's account.
    subprotocols=("realtime", "openai-beta.*"),
    socket_error=socket_error,
    socket_usage=socket_usage,
    socket_total=socket_total,
    mock_conversation="realtime",
    mock_live="openai_live",
    client_secrets=CLIENT_SECRETS,
    batches=BATCHES,
    files=FILES,
    provider="openai",
    operation_names={
        "createChatCompletion": "chat",
        "createResponse": "chat",
        "createCompletion": "text_completion",
        "createEmbedding": "embeddings",
    },
    chat_formats=CHAT_FORMATS,
    answer_members={
        "/completions": ("choices",),
        "/responses": ("output", "output_text"),
        "/embeddings": ("data",),
    },
    tasks={
        "/chat/completions": "chat",
        "/responses": "chat",
        "/responses/input_tokens": "chat",
        "/responses/compact": "chat",
        "/decisions": "chat",
        "/completions": "completion",
        "/embeddings": "embedding",
        "/images/generations": "image",
        "/images/edits": "image",
        "/images/variations": "image",
        "/audio/transcriptions": "transcription",
        "/audio/translations": "transcription",
        "/audio/speech": "speech",
        "/moderations": "moderation",
        "/realtime": "realtime",
        "/realtime/translations": "realtime",
        "/live/sessions": "realtime",
        "/rerank": "rerank",
    },
)
