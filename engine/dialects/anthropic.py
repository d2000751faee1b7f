"""The Anthropic dialect: the messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from engine.dialects import Dialect, Document, ModelCard, limit_of
from engine.errors import GatewayError

_BEGINNING = frozenset({"message_start", "content_block_start", "ping"})
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


def _models(cards: Sequence[ModelCard], parameters: Mapping[str, str]) -> Document:
    limit = limit_of(parameters, "limit", 20)
    names = [card.name for card in cards]
    start, stop = 0, len(cards)
    if parameters.get("after_id") in names:
        start = names.index(parameters["after_id"]) + 1
    if parameters.get("before_id") in names:
        stop = names.index(parameters["before_id"])
        start = max(start, stop - limit)
    page = cards[start:stop][:limit]
    return {
        "data": [_model(card) for card in page],
        "has_more": start > 0 if "before_id" in parameters else start + len(page) < stop,
        "first_id": page[0].name if page else None,
        "last_id": page[-1].name if page else None,
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
    models=_models,
    model=_model,
    has_content=_has_content,
    heartbeat=b'event: ping\ndata: {"type":"ping"}\n\n',
    request_headers=("anthropic-version", "anthropic-beta", "idempotency-key"),
    hidden_headers=frozenset({"set-cookie", "anthropic-organization-id"}),
    request_id_headers=("x-request-id", "request-id"),
)
