"""The OpenAI dialect, which most of the field speaks; also what a request is answered in when
nothing tells its dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson

from engine.dialects import (
    Dialect,
    Document,
    ModelCard,
    ModelList,
    StreamError,
    status_in,
)
from engine.dialects.usage import (
    MOST,
    Meter,
    count,
    first,
    seconds,
)
from engine.values.errors import GatewayError
from engine.values.usage import Usage

_BEGINNING = frozenset(
    {"response.created", "response.in_progress", "response.queued"}
    | {"response.output_item.added", "response.content_part.added"}
)
_WITH_USAGE = ("response.done", "conversation.item.input_audio_transcription.completed")
_TELLS_USAGE = re.compile(rb'"(?:response\.done|[a-z._]+transcription\.completed)"')
_LONGEST_WITH_USAGE = 1_000_000
_TYPES = {403: "permission_error", 429: "requests"}
_IMAGE_MADE = frozenset({"image_generation.completed", "image_edit.completed"})
_MOST_IMAGES = 1_000


def error_object(error: GatewayError, request_id: str) -> Document:
    """`{"error": {message, type, param, code}}`, strings all; types as the vendor names them."""
    return {
        "error": {
            "message": error.message,
            "type": _type_of(error.status),
            "param": error.param,
            "code": error.code,
        }
    }


def has_error(document: Any) -> bool:
    """Whether this is an object the vendor's SDK shows the message of."""
    error = document.get("error") if isinstance(document, dict) else None
    return isinstance(error, dict) and isinstance(error.get("message"), str)


# The status that an error has without a stream, by its code or else by its type: those of the API
# reference, of the events of Responses, and of servers that speak this dialect.
_STATUSES = {
    **dict.fromkeys(
        (
            *("invalid_request_error", "invalid_prompt", "context_length_exceeded", "bad_request"),
            *("invalid_value", "invalid_type", "invalid_json", "missing_required_parameter"),
            *("unknown_parameter", "unsupported_parameter", "unsupported_value", "empty_array"),
            *("string_above_max_length", "array_above_max_length", "integer_below_min_value"),
            *("content_policy_violation", "content_filter", "moderation_blocked", "cyber_policy"),
            *("image_generation_user_error", "invalid_image", "invalid_image_format"),
            *("invalid_base64_image", "invalid_image_url", "invalid_image_mode", "image_too_large"),
            *("image_too_small", "image_parse_error", "image_content_policy_violation"),
            *("image_file_too_large", "unsupported_image_media_type", "empty_image_file"),
            *("failed_to_download_image", "image_file_not_found", "previous_response_not_found"),
            *("BadRequestError", "billing_hard_limit_reached"),
        ),
        400,
    ),
    **dict.fromkeys(("invalid_api_key", "authentication_error", "invalid_authentication"), 401),
    **dict.fromkeys(
        (
            *("permission_error", "permission_denied", "insufficient_permissions"),
            "unsupported_country_region_territory",
        ),
        403,
    ),
    **dict.fromkeys(("model_not_found", "not_found_error", "not_found", "NotFoundError"), 404),
    "conflict_error": 409,
    **dict.fromkeys(
        (
            *("rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "requests"),
            *("tokens", "insufficient_quota", "quota_exceeded", "too_many_requests"),
        ),
        429,
    ),
    **dict.fromkeys(
        ("server_error", "api_error", "internal_error", "internal_server_error"),
        500,
    ),
    **dict.fromkeys(
        (
            *("overloaded_error", "server_is_overloaded", "server_overloaded", "slow_down"),
            *("engine_overloaded", "engine_overloaded_error", "service_unavailable"),
            "service_unavailable_error",
        ),
        503,
    ),
    **dict.fromkeys(("timeout", "timeout_error", "vector_store_timeout"), 504),
}


def stream_error(document: Any) -> StreamError | None:
    """An error of a stream: `{"error": {...}}`, the `error` event of Responses, which has its
    members at the top, or `response.failed`, whose response stays beside the error."""
    if not isinstance(document, dict):
        return None
    response = document.get("response")
    more = {"response": response} if isinstance(response, dict) else {}
    said = (more.get("response") or document).get("error")
    if document.get("type") == "error" and not isinstance(said, dict):
        said = {key: document.get(key) for key in ("message", "param", "code")}
    if not isinstance(said, dict):
        return None
    code, kind = said.get("code"), said.get("type")
    places = (code, said.get("status"), said.get("status_code"), document.get("status"))
    status = next((s for place in places if (s := status_in(place)) is not None), None)
    for name in (code, kind):
        if status is None and isinstance(name, str):
            status = _STATUSES.get(name)
    if status is None:
        return None
    kind = kind if isinstance(kind, str) else _type_of(status)
    error = {"message": "", "type": kind, "param": None, "code": None, **said}
    error |= {"type": kind, "message": _text(error["message"]) or "The request failed."}
    return StreamError(status, {"error": error, **more})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _type_of(status: int) -> str:
    return _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")


def error_event(body: bytes) -> bytes:
    """What makes the SDK raise in the middle of a stream (chat, completions and responses)."""
    return b"data: " + body + b"\n\n"


def list_models(listed: ModelList, parameters: Mapping[str, str]) -> Document:
    """GET /v1/models."""
    return {"object": "list", "data": listed.documents}


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


def usage_of(document: Any) -> Usage | None:
    """What any answer or event of this dialect says was used (tokens, images, seconds).

    `prompt_tokens` and `input_tokens` include what came from a cache. Whoever counts reasoning
    outside `completion_tokens` (xAI, Gemini's compatible API) gives it away by `total_tokens`.
    """
    if not isinstance(document, dict):
        return None
    if "choices" in document and (plain := _plain(document.get("usage"))) is not None:
        return plain
    inner = document.get("response")
    if isinstance(inner, dict):  # an event of the Responses or Realtime API
        document = inner
    said = _said(document)
    tokens = _tokens(said)
    images = 0 if "choices" in document else _images(document)
    if tokens is not None:
        return Usage(*tokens, images, source="upstream")
    # Where tokens of sound are counted, those are what is paid.
    listened = seconds(said.get("seconds")) or seconds(document.get("duration")) or 0.0
    if not images and not listened:
        return None
    return Usage(images=images, seconds=listened, source="upstream")


def _said(document: dict[str, Any]) -> dict[str, Any]:
    """The object with the counts, wherever the vendor puts it; an empty one for none."""
    usage = document.get("usage")
    if isinstance(usage, dict) and usage:
        return usage
    places = []
    groq, meta, choices = (document.get(key) for key in ("x_groq", "meta", "choices"))
    if isinstance(groq, dict):
        places.append(groq.get("usage"))
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        places.append(choices[0].get("usage"))  # Moonshot
    if isinstance(meta, dict):  # Cohere
        places += [meta.get("billed_units"), meta.get("tokens")]
    return next((place for place in places if isinstance(place, dict) and place), {})


_OF_INPUT = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OF_OUTPUT = ("completion_tokens_details", "output_tokens_details")


def _tokens(said: dict[str, Any]) -> tuple[int, int, int, int] | None:
    """Tokens in and out, those of them from a cache, and those of reasoning."""
    taken, given = count(said.get("prompt_tokens")), count(said.get("completion_tokens"))
    if taken is None:
        taken = count(said.get("input_tokens"))
    if given is None:
        given = count(said.get("output_tokens"))
    total = count(said.get("total_tokens"))
    if taken is None and given is None and total is None:
        return None
    if taken is None:
        taken = max((total or 0) - (given or 0), 0)
    cached = _detail(said, "cached_tokens", _OF_INPUT)
    if cached is None:
        cached = first(said, "cached_tokens", "prompt_cache_hit_tokens") or 0
    reasoning = _detail(said, "reasoning_tokens", _OF_OUTPUT) or 0
    output = given or 0
    if total is not None and given is not None and total > taken + given:
        output = total - taken
        reasoning = max(reasoning, output - given)
    return taken, output, min(cached, taken), min(reasoning, output)


_COUNTS = itemgetter("prompt_tokens", "completion_tokens", "total_tokens")


def _plain(said: Any) -> Usage | None:
    """What an object says that has nothing but the three counts that all servers tell."""
    if type(said) is not dict or len(said) != 3:
        return None
    try:
        taken, given, total = _COUNTS(said)
    except KeyError:
        return None
    if type(taken) is type(given) is int and taken >= 0 <= given and taken + given == total <= MOST:
        return Usage(taken, given, source="upstream")
    return None


def _detail(said: dict[str, Any], name: str, kinds: Sequence[str]) -> int | None:
    for kind in kinds:
        if kind in said and (found := first(said[kind], name)) is not None:
            return found
    return None


def _images(document: dict[str, Any]) -> int:
    kind = document.get("type")
    if isinstance(kind, str) and kind in _IMAGE_MADE:
        return 1
    data = document.get("data")
    if not isinstance(data, list) or len(data) > _MOST_IMAGES:
        return 0
    return sum(
        isinstance(one, dict)
        and (isinstance(one.get("b64_json"), str) or isinstance(one.get("url"), str))
        for one in data
    )


class _Tally:
    """The last event with usage holds, except that each finished image counts for itself."""

    def __init__(self) -> None:
        self.ended = False
        self._usage: Usage | None = None

    def take(self, document: Any) -> None:
        usage = usage_of(document)
        if usage is None:
            return
        self.ended = True
        self._usage = self._usage + usage if self._usage and usage.images else usage

    def usage(self) -> Usage | None:
        return self._usage


def socket_error(error: GatewayError, request_id: str) -> bytes:
    """The `error` event of a session."""
    document = error_object(error, request_id)["error"] | {"event_id": None}
    return orjson.dumps({"type": "error", "event_id": f"event_{request_id}", "error": document})


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """What a session's event says was used: by a response, or by writing down what was heard."""
    if _TELLS_USAGE.search(message) is None or len(message) > _LONGEST_WITH_USAGE:
        return None
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    kind = event.get("type") if isinstance(event, dict) else None
    return usage_of(event) if kind in _WITH_USAGE else None


def _claims(environ: Mapping[str, Any], query: str) -> bool:
    return True


DIALECT = Dialect(
    name="openai",
    claims=_claims,
    error=error_object,
    is_error=has_error,
    error_event=error_event,
    stream_error=stream_error,
    models=list_models,
    model=show_model,
    has_content=has_content,
    meter=Meter(
        usage_of=usage_of,
        tally=_Tally,
        members=("usage", "x_groq", "meta", "duration"),
        image="b64_json",
    ),
    heartbeat=b": keep-alive\n\n",
    request_headers=(
        *("openai-beta", "idempotency-key", "x-client-request-id"),
        # By which Codex and its kin say who they are and which requests belong together.
        *("originator", "version", "session-id", "thread-id", "conversation-id"),
        *("x-session-id", "x-session-affinity", "x-openai-subagent", "x-codex-turn-state"),
        *("x-codex-turn-metadata", "x-codex-beta-features", "x-codex-window-id"),
        *("x-codex-parent-thread-id", "x-codex-installation-id"),
    ),
    response_headers=(
        *("openai-processing-ms", "openai-version", "openai-model", "x-codex-*"),
        *("cf-ray", "x-reasoning-included", "x-models-etag"),
        # Of others who speak this dialect: Azure, Mistral, Groq, DeepSeek, Fireworks, Cohere.
        *("apim-request-id", "x-ms-client-request-id", "x-ms-request-id", "x-ms-region"),
        *("mistral-correlation-id", "x-groq-region", "x-ds-trace-id", "fireworks-*"),
        *("x-debug-trace-id", "x-endpoint-monthly-call-limit", "x-trial-endpoint-call-*"),
    ),
    hidden_headers=frozenset({"set-cookie", "openai-organization", "openai-project"}),
    # Those that name an organization or a project belong to the caller's own account.
    subprotocols=("realtime", "openai-beta.*"),
    socket_error=socket_error,
    socket_usage=socket_usage,
)
