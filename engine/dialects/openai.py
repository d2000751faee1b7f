"""The OpenAI dialect, which most of the field speaks; also what a request is answered in when
nothing tells its dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from engine.dialects import Dialect, Document, ModelCard
from engine.errors import GatewayError

_BEGINNING = frozenset(
    {"response.created", "response.in_progress", "response.queued"}
    | {"response.output_item.added", "response.content_part.added"}
)
_LONGEST_WITH_USAGE = 1_000_000
_TYPES = {403: "permission_error", 429: "requests"}


def error_object(error: GatewayError, request_id: str) -> Document:
    """`{"error": {message, type, param, code}}`, strings all; types as the vendor names them."""
    fallback = "server_error" if error.status >= 500 else "invalid_request_error"
    return {
        "error": {
            "message": error.message,
            "type": _TYPES.get(error.status, fallback),
            "param": error.param,
            "code": error.code,
        }
    }


def has_error(document: Any) -> bool:
    """Whether this is an object the vendor's SDK shows the message of."""
    error = document.get("error") if isinstance(document, dict) else None
    return isinstance(error, dict) and isinstance(error.get("message"), str)


def error_event(body: bytes) -> bytes:
    """What makes the SDK raise in the middle of a stream (chat, completions and responses)."""
    return b"data: " + body + b"\n\n"


def list_models(cards: Sequence[ModelCard], parameters: Mapping[str, str]) -> Document:
    """GET /v1/models."""
    return {"object": "list", "data": [show_model(card) for card in cards]}


def show_model(card: ModelCard) -> Document:
    """GET /v1/models/{model}."""
    return {"id": card.name, "object": "model", "created": card.created, "owned_by": card.owner}


def has_content(document: Any) -> bool:
    """False for the events that begin a stream: a role, an id, an empty choice."""
    if not isinstance(document, dict):
        return True
    kind = document.get("type")
    if isinstance(kind, str):
        return kind not in _BEGINNING
    choices = document.get("choices")
    if not isinstance(choices, list):
        return True
    return any(_says_something(choice) for choice in choices if isinstance(choice, dict))


def _says_something(choice: dict[str, Any]) -> bool:
    delta = choice.get("delta") or {}
    if choice.get("finish_reason") or choice.get("text"):
        return True
    return isinstance(delta, dict) and any(v for key, v in delta.items() if key != "role")


def socket_error(error: GatewayError, request_id: str) -> bytes:
    """The `error` event of a session."""
    document = error_object(error, request_id)["error"] | {"event_id": None}
    return orjson.dumps({"type": "error", "event_id": f"event_{request_id}", "error": document})


def socket_usage(message: bytes | bytearray) -> Mapping[str, Any] | None:
    """What a `response.done` event says of tokens."""
    if b'"response.done"' not in message or len(message) > _LONGEST_WITH_USAGE:
        return None
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(event, dict) or event.get("type") != "response.done":
        return None
    response = event.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return usage if isinstance(usage, dict) else None


def _claims(environ: Mapping[str, Any], query: str) -> bool:
    return True


DIALECT = Dialect(
    name="openai",
    claims=_claims,
    error=error_object,
    is_error=has_error,
    error_event=error_event,
    models=list_models,
    model=show_model,
    has_content=has_content,
    heartbeat=b": keep-alive\n\n",
    request_headers=("openai-beta", "idempotency-key"),
    hidden_headers=frozenset({"set-cookie", "openai-organization", "openai-project"}),
    # Those that name an organization or a project belong to the caller's own account.
    subprotocols=("realtime", "openai-beta.*"),
    socket_error=socket_error,
    socket_usage=socket_usage,
)
