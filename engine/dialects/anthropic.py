"""The Anthropic dialect: the messages API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.dialects import (
    Dialect,
    Document,
    ModelCard,
    ModelList,
    StreamError,
    limit_of,
    status_in,
)
from engine.dialects.usage import Meter, count, first
from engine.values.errors import GatewayError
from engine.values.usage import Usage

_BEGINNING = frozenset({"message_start", "content_block_start", "ping"})
_FIELDS = (
    *("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation"),
    *("output_tokens", "output_tokens_details", "iterations"),
)
_MOST_RUNS = 100
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
    return {
        "type": "error",
        "error": {
            "type": _TYPES.get(error.status, fallback),
            "message": error.message,
            "param": error.param,
            "code": error.code,
        },
        "request_id": request_id,
    }


_STATUSES = {kind: status for status, kind in _TYPES.items()} | {
    "invalid_request_error": 400,
    "api_error": 500,
}


def _stream_error(document: Any) -> StreamError | None:
    """An `error` event, which has the members of an error's answer."""
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return None
    kind = error.get("type")
    status = _STATUSES.get(kind) if isinstance(kind, str) else None
    status = status or status_in(error.get("code")) or status_in(document.get("status"))
    if status is None:
        return None
    message = error.get("message")
    error = {"type": _TYPES.get(status, "api_error"), **error}
    error["message"] = message if isinstance(message, str) and message else "The request failed."
    return StreamError(status, document | {"type": "error", "error": error})


def _is_error(document: Any) -> bool:
    error = document.get("error") if isinstance(document, dict) else None
    return (
        isinstance(error, dict)
        and isinstance(error.get("type"), str)
        and isinstance(error.get("message"), str)
    )


def _has_content(document: Any) -> bool:
    kind = document.get("type") if isinstance(document, dict) else None
    return not isinstance(kind, str) or kind not in _BEGINNING


def _usage_of(document: Any) -> Usage | None:
    """What a message, or an event of one, says was used.

    `input_tokens` are only those that the prompt cache had no part in. The counts at the top leave
    out what compaction took, which `iterations` lists (vendor's "Compaction", usage).
    """
    said = _said(document)
    total = _counted(said)
    runs = said.get("iterations")
    for run in runs[:_MOST_RUNS] if isinstance(runs, list) else ():
        if isinstance(run, dict) and run.get("type") == "compaction":
            more = _counted(run)
            total = total + more if total and more else total or more
    return total


def _said(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        return {}
    message = document.get("message")  # message_start
    said = (message if isinstance(message, dict) else document).get("usage")
    return said if isinstance(said, dict) else {}


def _counted(said: dict[str, Any]) -> Usage | None:
    plain, output = first(said, "input_tokens"), first(said, "output_tokens")
    read, written = first(said, "cache_read_input_tokens"), _written(said)
    if plain is None and output is None and read is None and written is None:
        return None
    thinking = first(said.get("output_tokens_details"), "thinking_tokens") or 0
    return Usage(
        input=(plain or 0) + (read or 0) + (written or 0),
        output=output or 0,
        cached=read or 0,
        reasoning=min(thinking, output or 0),
        source="upstream",
    )


def _written(said: dict[str, Any]) -> int | None:
    """Tokens put into the cache: their sum, or else its two kinds."""
    written = first(said, "cache_creation_input_tokens")
    if written is not None:
        return written
    kinds = [first(said.get("cache_creation"), f"ephemeral_{n}_input_tokens") for n in ("5m", "1h")]
    return None if kinds == [None, None] else sum(kind or 0 for kind in kinds)


class _Tally:
    """message_start tells the input, each message_delta the sums so far: the last of each field
    holds. A null or a zero takes nothing back, as some upstreams repeat fields they do not know.
    """

    def __init__(self) -> None:
        self.ended = False
        self._said: dict[str, Any] = {}

    def take(self, document: Any) -> None:
        said = _said(document)
        for key in _FIELDS:
            value = said.get(key)
            if count(value) or isinstance(value, dict | list):
                self._said[key] = value
        kind = document.get("type") if isinstance(document, dict) else None
        self.ended = self.ended or (kind == "message_delta" and _counted(said) is not None)

    def usage(self) -> Usage | None:
        return _usage_of({"usage": self._said})


def _models(listed: ModelList, parameters: Mapping[str, str]) -> Document:
    limit = limit_of(parameters, "limit", 20)
    start, stop = 0, len(listed)
    after = listed.place(parameters.get("after_id"))
    before = listed.place(parameters.get("before_id"))
    if after is not None:
        start = after + 1
    if before is not None:
        stop = before
        start = max(start, stop - limit)
    end = min(stop, start + limit)
    names = listed.names[start:end]
    return {
        "data": listed.documents[start:end],
        "has_more": start > 0 if "before_id" in parameters else start + len(names) < stop,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }


def _model(card: ModelCard) -> Document:
    created = datetime.fromtimestamp(card.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": card.name, "display_name": card.title, "created_at": created}


DIALECT = Dialect(
    name="anthropic",
    claims=lambda environ, query: "HTTP_ANTHROPIC_VERSION" in environ,
    error=_error,
    is_error=_is_error,
    error_event=lambda body: b"event: error\ndata: " + body + b"\n\n",
    stream_error=_stream_error,
    models=_models,
    model=_model,
    has_content=_has_content,
    meter=Meter(usage_of=_usage_of, tally=_Tally),
    heartbeat=b'event: ping\ndata: {"type":"ping"}\n\n',
    request_headers=(
        *("anthropic-version", "anthropic-beta", "idempotency-key", "x-client-request-id"),
        # By which Claude Code and its kin say who they are and which requests belong together.
        *("x-app", "x-claude-code-session-id", "x-claude-code-agent-id", "x-session-id"),
        "x-claude-code-parent-agent-id",
    ),
    response_headers=(
        *("anthropic-ratelimit-*", "anthropic-priority-*", "anthropic-fast-*", "cf-ray"),
        *("x-amzn-requestid", "x-amzn-bedrock-*"),
    ),
    hidden_headers=frozenset({"set-cookie", "anthropic-organization-id"}),
    request_id_headers=("x-request-id", "request-id"),
)
