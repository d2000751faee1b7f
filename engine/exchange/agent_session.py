"""The session of an agent as its requests name it: for `affinity: agent`, ledger and log."""

from __future__ import annotations

import hashlib
from typing import Any

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.values.redaction import redact_tokens
from engine.values.trees import Json

SESSION_HEADERS = {
    # As recorded: claude-cli 2.1.332, codex_exec 0.171.0, opencode 1.18.33. The last is also what
    # plug-ins and scripts send, and the playground.
    "x-claude-code-session-id": "Claude Code",
    "session-id": "Codex",
    "x-session-affinity": "opencode",
    "x-session-id": "opencode",
}
"""The headers in which agents name their session."""

_HEADERS = tuple(map(environ_key, SESSION_HEADERS))
_ANY_HEADER = frozenset(_HEADERS)
_ANY_MEMBER = frozenset({"prompt_cache_key", "user", "metadata"})
_MAX_TEXT, _MAX_START = 200, 180
"""Characters of a session's text, and those that are left of a longer one before its digest."""


def session_key(exchange: Exchange) -> str:
    """The session that a request names: in a header, as `prompt_cache_key`, `user` or
    `metadata.user_id`; "" without any. It is what the caller sent, of any length."""
    environ = exchange.environ
    if environ.keys() & _ANY_HEADER:
        for header in _HEADERS:
            if value := environ.get(header):
                return str(value)
    body = exchange.content.value
    return _in_body(body) if isinstance(body, dict) and body.keys() & _ANY_MEMBER else ""


def _in_body(body: Json) -> str:
    if value := _text(body.get("prompt_cache_key")) or _text(body.get("user")):
        return value
    metadata = body.get("metadata")
    return _text(metadata.get("user_id")) if isinstance(metadata, dict) else ""


def session_of(exchange: Exchange) -> str:
    """The `session_key` for people and tables: at most 200 printable characters on one line, and no
    token of the gateway. Two sessions whose keys differ have different texts."""
    record = exchange.record
    session = record.session
    if session is None:
        key = session_key(exchange)
        session = record.session = _cleaned(key) if key else ""
    return session


def _cleaned(key: str) -> str:
    text = redact_tokens(_shortened(key, key))
    if text.isprintable():
        return text
    return _shortened(text.encode("unicode_escape").decode("ascii"), key)


def _shortened(text: str, key: str) -> str:
    """The text, or its start and a digest of the key."""
    if len(text) <= _MAX_TEXT:
        return text
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_MAX_START]}~{digest}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
