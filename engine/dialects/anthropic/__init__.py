"""The Anthropic dialect: the messages API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.dialects.anthropic.files import BATCHES, FILES
from engine.dialects.anthropic.usage import METER
from engine.dialects.anthropic.volatile_texts import stable_text
from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.claude_events import ends, events_of, has_content
from engine.dialects.interface.dialect import Dialect, Document
from engine.dialects.interface.error_forms import VENDOR_CODES, reported_error
from engine.dialects.interface.error_texts import message_in
from engine.dialects.interface.model_list import ModelCard, ModelList, page_size
from engine.dialects.interface.rate_limits import RateLimitHeaders, read_timestamp, write_timestamp
from engine.dialects.interface.streams import (
    UNTYPED,
    StreamError,
    StreamRules,
    error_in,
    status_in,
    with_type,
)
from engine.dialects.interface.usage import RequestFields
from engine.values.errors import GatewayError
from engine.values.usage import OutputFields

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
            "param": error.param or None,
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

_ODDITY = re.compile(
    rb'(?m)(?:\A|(?<=\n\n))(?=data: ?\{\s*+"type"\s*+:\s*+"(\w++)")|'
    + (UNTYPED % rb"(?:message|content_block)_[a-z]+")
    + rb'|^data: \{(?=[^\n]*"type"\s*:\s*"message_(?:start|delta)")(?![^\n]*"usage")'
    rb'(?:[^\n]*?"message"\s*:\s*\{)?(?!\s*\})'
)
"""Events whose name is their type alone, over which SDKs pass
(https://github.com/earendil-works/pi/issues/1983), events whose type is their name alone, and the
beginning and end of a message without usage, which SDKs read
(https://github.com/anthropics/claude-code/issues/46932)."""


def _remedy(odd: re.Match[bytes]) -> bytes:
    if odd[1]:
        return b"event: %b\n" % odd[1]
    if odd[2]:
        return with_type(odd[2], odd[3])
    return odd[0] + b'"usage":{"input_tokens":0,"output_tokens":0},'


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
    stream=StreamRules(
        end_marker=False,  # OpenRouter and others end its streams with one
        oddity=_ODDITY,
        remedy=_remedy,
    ),
    ends=ends,
    request_fields=RequestFields(output=OutputFields(limits=(("max_tokens",),))),
    meter=METER,
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
    answer_members={"/messages": ("content", "stop_reason")},
    tasks={"/messages": "chat", "/messages/count_tokens": "chat"},
)
