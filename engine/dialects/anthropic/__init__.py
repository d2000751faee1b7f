"""The Anthropic dialect: the messages API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from engine.dialects.anthropic.batches import BATCHES
from engine.dialects.anthropic.files import FILES
from engine.dialects.anthropic.volatile_texts import stable_text
from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.claude_events import ends, events_of, has_content
from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.error_forms import VENDOR_CODES, message_in, reported_error
from engine.dialects.interface.model_list import ModelCard, ModelList, page_size
from engine.dialects.interface.rate_limits import RateLimitHeaders, read_timestamp, write_timestamp
from engine.dialects.interface.streams import StreamError, error_in, status_in
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
from engine.values.errors import GatewayError
from engine.values.trees import Json
from engine.values.usage import OutputFields, Usage

_COUNTS = frozenset(
    {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}
)
_CACHE = frozenset({"cache_creation_input_tokens", "cache_read_input_tokens"})
_DETAILS = {
    "cache_creation": ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    "output_tokens_details": ("thinking_tokens",),
}
_MAX_ITERATIONS = 100
_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _error(error: GatewayError, request_id: str) -> Document:
    fallback = "api_error" if error.status >= 500 else "invalid_request_error"
    details = {} if error.details is None else {"details": dict(error.details)}
    return {
        "type": "error",
        "error": {
            "type": _TYPES.get(error.status, fallback),
            "message": error.message,
            "param": error.param,
            "code": error.code,
            **details,
        },
        "request_id": request_id,
    }


_STATUSES = {kind: status for status, kind in _TYPES.items()} | {
    "invalid_request_error": 400,
    "api_error": 500,
}


def _stream_error(document: Any) -> StreamError | None:
    """An `error` event, which has the members of an error response."""
    error = reported_error(document)
    if error is None:
        return None
    kind = error.get("type")
    status = _STATUSES.get(kind) if isinstance(kind, str) else None
    numbers = error.get("code"), error.get("status"), document.get("status")
    status = status or next(filter(None, map(status_in, numbers)), None)
    if status is None and isinstance(code := error.get("code"), str):
        status = VENDOR_CODES.get(code)
    if status is None:
        return None
    fallback = "api_error" if status >= 500 else "invalid_request_error"
    kind = kind if isinstance(kind, str) else _TYPES.get(status, fallback)
    more = {"request_id": document["request_id"]} if "request_id" in document else {}
    error = {**error, "type": kind, "message": message_in(error)}
    return StreamError(status, {"type": "error", "error": error, **more})


def _is_error(document: Any) -> bool:
    """Whether this is an error object; the vendor's SDK reads the `type` at its top."""
    error = error_in(document) or {}
    texts = error.get("type"), error.get("message")
    return all(isinstance(text, str) for text in texts) and document.get("type") == "error"


def _usage_of(document: object) -> Usage | None:
    """The usage that a message, or an event of one, reports.

    `input_tokens` exclude the tokens that were read from the prompt cache or written to it. The
    top-level counts exclude compaction, which `iterations` lists (the vendor's documentation of
    compaction, section "Usage").
    """
    counts = _counts(document)
    total = _usage_in(counts)
    iterations = counts.get("iterations")
    for run in iterations[:_MAX_ITERATIONS] if isinstance(iterations, list) else ():
        if isinstance(run, dict) and run.get("type") == "compaction":
            compaction = _usage_in(run)
            total = total + compaction if total and compaction else total or compaction
    return total


def _counts(document: object) -> Json:
    """The `usage` object of a message or an event; empty for none."""
    if not isinstance(document, dict):
        return {}
    message = document.get("message")  # message_start
    return object_in(message if isinstance(message, dict) else document, "usage")


class _TokenCounts(Struct):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None


class _CacheCreation(Struct):
    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class _OutputDetails(Struct):
    thinking_tokens: Count = None


def _usage_in(holder: Json) -> Usage | None:
    counts = counts_in(holder, _TokenCounts)
    creation = counts_in(object_in(holder, "cache_creation"), _CacheCreation)
    plain, output = counts.input_tokens, counts.output_tokens
    cached, cache_write = counts.cache_read_input_tokens, counts.cache_creation_input_tokens
    write_5m, write_1h = creation.ephemeral_5m_input_tokens, creation.ephemeral_1h_input_tokens
    if cache_write is None and (write_5m, write_1h) != (None, None):
        cache_write = (write_5m or 0) + (write_1h or 0)
    if plain is None and output is None and cached is None and cache_write is None:
        return None
    details = counts_in(object_in(holder, "output_tokens_details"), _OutputDetails)
    return token_usage(
        (plain or 0) + (cached or 0) + (cache_write or 0),
        output or 0,
        TokenParts(cached=cached or 0, cache_write=cache_write or 0, cache_write_1h=write_1h or 0),
        TokenParts(reasoning=details.thinking_tokens or 0),
    )


class _LastFields:
    """message_start reports the input, each message_delta the totals so far: the last value of each
    field counts. A null or a zero does not replace a value, as some upstreams repeat fields without
    their values.
    """

    def __init__(self) -> None:
        self.ended = False
        self._counts: Json = {}
        self._usage: Usage | None = None
        self._is_read = True

    def take(self, document: Any) -> None:
        if not (counts := _counts(document)):
            return
        self._is_read = False
        if not _CACHE.isdisjoint(counts) and _CACHE.isdisjoint(self._counts):
            self._exclude_cache(counts)
        for key in _COUNTS.intersection(counts):
            if number := count_in(counts, key):
                self._counts[key] = number
        for key in _DETAILS.keys() & counts:
            details, names = object_in(counts, key), _DETAILS[key]
            if later := {name: number for name in names if (number := count_in(details, name))}:
                self._counts[key] = self._counts.get(key, {}) | later
        if isinstance(iterations := counts.get("iterations"), list):
            self._counts["iterations"] = iterations
        is_delta = document.get("type") == "message_delta"
        self.ended = self.ended or (is_delta and _usage_in(counts) is not None)

    def _exclude_cache(self, counts: Json) -> None:
        """The first report of the cache: the input before it included the cache. DashScope and Kimi
        report it at the end, and there the input without it, which may be none."""
        cache = sum(count_in(counts, key) or 0 for key in _CACHE & counts.keys())
        if cache and (included := self._counts.pop("input_tokens", 0)):
            has_input = count_in(counts, "input_tokens") is not None
            self._counts["input_tokens"] = 0 if has_input else max(included - cache, 0)

    def usage(self) -> Usage | None:
        if not self._is_read:
            self._usage, self._is_read = _usage_of({"usage": self._counts}), True
        return self._usage


def _models(models: ModelList, parameters: Mapping[str, str]) -> Document:
    limit = page_size(parameters, "limit", 20)
    start, stop = 0, len(models)
    after = models.index(parameters.get("after_id"))
    before = models.index(parameters.get("before_id"))
    if after is not None:
        start = after + 1
    if before is not None:
        stop = before
        start = max(start, stop - limit)
    end = min(stop, start + limit)
    names = models.names[start:end]
    return {
        "data": models.documents[start:end],
        "has_more": start > 0 if "before_id" in parameters else start + len(names) < stop,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }


def _model(card: ModelCard) -> Document:
    created = datetime.fromtimestamp(card.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    limits = {"max_input_tokens": card.context, "max_tokens": card.output}
    return {
        "type": "model",
        "id": card.name,
        "display_name": card.title,
        "created_at": created,
        **{name: limit for name, limit in limits.items() if limit is not None},
    }


_MESSAGES = ChatFormat(
    name="messages",
    title="Messages",
    path_suffix="/messages",
    sdk_suffix="/v1/messages",
    module="messages",
    curl_headers='-H "x-api-key: $TOKEN" -H "anthropic-version: 2023-06-01"',
    arguments=lambda model: {
        "model": model,
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": "Hello!"}],
    },
    programs={
        "python": Program(
            start="""import os
from anthropic import Anthropic

client = Anthropic(base_url=@BASE@, api_key=os.environ["TOKEN"])""",
            call="client.messages.create",
            on_event="""if event.type == "content_block_delta" and event.delta.type == "text_delta":
    print(event.delta.text, end="", flush=True)""",
            on_answer="print(answer.content[0].text)",
        ),
        "javascript": Program(
            start="""import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: @BASE@, apiKey: process.env.TOKEN });""",
            call="client.messages.create",
            on_event="""if ("delta" in event && "text" in event.delta) {
  process.stdout.write(event.delta.text);
}""",
            on_answer="""const [block] = answer.content;
if (block?.type === "text") console.log(block.text);""",
        ),
    },
)

DIALECT = Dialect(
    name="anthropic",
    claims=lambda environ, query: "HTTP_ANTHROPIC_VERSION" in environ,
    error=_error,
    is_error=_is_error,
    error_event=lambda body: b"event: error\ndata: " + body + b"\n\n",
    stream_error=_stream_error,
    models=_models,
    model=_model,
    has_content=has_content,
    events_of=events_of,
    ends=ends,
    request_fields=RequestFields(output=OutputFields(limits=(("max_tokens",),))),
    meter=Meter(
        usage_of=_usage_of,
        tally=_LastFields,
        output=OutputMembers(("text", "thinking", "name", "partial_json"), ("input",)),
        excludes_cache=True,
    ),
    stable_text=stable_text,
    heartbeat=b'event: ping\ndata: {"type":"ping"}\n\n',
    request_headers=(
        *("anthropic-version", "anthropic-beta", "idempotency-key", "x-client-request-id"),
        # Claude Code and similar clients name themselves and the requests that belong together.
        *("x-app", "x-claude-code-session-id", "x-claude-code-agent-id", "x-session-id"),
        "x-claude-code-parent-agent-id",
    ),
    response_headers=(
        *("anthropic-ratelimit-*", "anthropic-priority-*", "anthropic-fast-*", "cf-ray"),
        *("x-amzn-requestid", "x-amzn-bedrock-*"),
    ),
    hidden_headers=frozenset({"set-cookie", "anthropic-organization-id"}),
    rate_limits=RateLimitHeaders(
        "anthropic-ratelimit-{kind}-{part}", read_timestamp, write_timestamp
    ),
    request_id_headers=("x-request-id", "request-id"),
    batches=BATCHES,
    files=FILES,
    provider="anthropic",
    operation_names={"createMessage": "chat"},
    chat_formats=(_MESSAGES,),
    tasks={"/messages": "chat", "/messages/count_tokens": "chat"},
)
