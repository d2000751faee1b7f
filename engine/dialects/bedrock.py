"""The dialect of Amazon Bedrock's runtime: Converse.

Callers usually speak another dialect, and a translation writes the requests to an upstream of this
one and reads its answers. A route of this dialect relays the vendor's binary streams unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from engine.dialects.interface import claude_events
from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.error_texts import message_in
from engine.dialects.interface.model_list import ModelCard, ModelList
from engine.dialects.interface.streams import StreamError, error_in, status_in
from engine.dialects.interface.usage import Count, LastUsage, Meter, OutputMembers, RequestFields
from engine.dialects.interface.usage_counts import count_in, counts_in, object_in
from engine.values.errors import GatewayError
from engine.values.trees import Json
from engine.values.usage import OutputFields, Usage

_TYPES = {
    400: "ValidationException",
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def _type_of(status: int) -> str:
    fallback = "InternalServerException" if status >= 500 else "ValidationException"
    return _TYPES.get(status, fallback)


def _error(error: GatewayError, request_id: str) -> Document:
    return _document(error.status, error.message, error.param, error.code)


def _document(status: int, message: str, param: str = "", code: str = "") -> Document:
    """An error. The vendor's SDKs read `__type` and `message`; the gateway reads `error`, as in
    other dialects."""
    kind = _type_of(status)
    details = {"type": kind, "message": message, "param": param or None, "code": code}
    return {"__type": kind, "message": message, "error": details}


def _is_error(document: object) -> bool:
    return isinstance(document, dict) and isinstance(document.get("message"), str)


def _stream_error(document: object) -> StreamError | None:
    """An exception in a stream, as `engine.relay.amazon_events` writes it."""
    error = error_in(document)
    status = None if error is None else status_in(error.get("code"))
    if error is None or status is None:
        return None
    return StreamError(status, _document(status, message_in(error)))


_OPENING_EVENTS = frozenset({"messageStart", "contentBlockStart"})
_STREAM_EVENTS = _OPENING_EVENTS | {"contentBlockDelta", "contentBlockStop"}
# InvokeModelWithResponseStream adds the last of these to the last event of every model.
_LAST_EVENTS = frozenset({"messageStop", "metadata", "amazon-bedrock-invocationMetrics"})


def _has_content(document: object) -> bool:
    """False for the events that begin an answer, of Converse or of Claude's own API."""
    if isinstance(document, dict) and not _OPENING_EVENTS.isdisjoint(document):
        return False
    return claude_events.has_content(document)


def _ends(documents: Sequence[object]) -> bool | None:
    """Converse ends with its stop reason; the streams of other APIs than Claude's have an end that
    is not known without Amazon's metrics."""
    names = {name for document in documents if isinstance(document, dict) for name in document}
    if not names.isdisjoint(_LAST_EVENTS):
        return True
    return claude_events.ends(documents) if names.isdisjoint(_STREAM_EVENTS) else False


class _Counts(Struct, rename="camel"):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_write_input_tokens: Count = None


def _usage_of(document: object) -> Usage | None:
    """The usage of an answer, or of the event `metadata`. `inputTokens` excludes the tokens that
    were read from the prompt cache or written to it."""
    if not isinstance(document, dict):
        return None
    holder = document.get("metadata", document)
    members = object_in(holder, "usage") if isinstance(holder, dict) else {}
    counts = counts_in(members, _Counts)
    plain, output = counts.input_tokens, counts.output_tokens
    cached, cache_write = counts.cache_read_input_tokens, counts.cache_write_input_tokens
    if plain is None and output is None and cached is None and cache_write is None:
        return None
    return Usage(
        input=(plain or 0) + (cached or 0) + (cache_write or 0),
        output=output or 0,
        cached=cached or 0,
        cache_write=cache_write or 0,
        cache_write_1h=min(_write_1h(members), cache_write or 0),
        source="upstream",
    )


def _write_1h(members: Json) -> int:
    """The tokens that were written to the prompt cache for one hour."""
    details = members.get("cacheDetails")
    return sum(
        count_in(detail, "inputTokens") or 0
        for detail in (details[:10] if isinstance(details, list) else ())
        if isinstance(detail, dict) and detail.get("ttl") == "1h"
    )


def _models(models: ModelList, parameters: Mapping[str, str]) -> Document:
    return {"modelSummaries": list(models.documents)}


def _model(card: ModelCard) -> Document:
    return {"modelId": card.name, "modelName": card.title, "providerName": card.owner}


_CHATS = ("/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream")

DIALECT = Dialect(
    name="bedrock",
    error=_error,
    is_error=_is_error,
    error_event=lambda body: b"data: " + body + b"\n\n",
    stream_error=_stream_error,
    models=_models,
    model=_model,
    has_content=_has_content,
    ends=_ends,
    amazon_streams=True,
    request_fields=RequestFields(
        output=OutputFields(limits=(("inferenceConfig", "maxTokens"),)),
    ),
    meter=Meter(
        usage_of=_usage_of,
        tally=lambda: LastUsage(_usage_of),
        output=OutputMembers(("text", "thinking", "name", "input", "partial_json"), ("input",)),
    ),
    response_headers=("x-amzn-*",),
    hidden_headers=frozenset({"set-cookie"}),
    request_id_headers=("x-request-id", "x-amzn-requestid"),
    provider="aws.bedrock",
    answer_members={"/converse": ("output",)},
    tasks=dict.fromkeys(_CHATS, "chat"),
    operation_names={"Converse": "chat", "ConverseStream": "chat"},
)
