"""The key of an agent's session, for `affinity: agent`.

An agent sends its whole conversation with each turn, so that the server which answered the last
turn has nearly all of it in its prompt cache.
"""

from __future__ import annotations

from typing import Any

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.upstream.prompt_text import opening_of

SESSION_HEADERS = {
    # As recorded: claude-cli 2.1.332, codex_exec 0.171.0, opencode 1.18.33. The last is also what
    # plug-ins and scripts send.
    "x-claude-code-session-id": "Claude Code",
    "session-id": "Codex",
    "x-session-affinity": "opencode",
    "x-session-id": "opencode",
}
"""The headers in which agents name their session."""

_HEADERS = tuple(map(environ_key, SESSION_HEADERS))
_MEMBERS = ("prompt_cache_key", "user")
_MAX_OPENING = 20_000
"""Characters of the opening that are read: instructions, and the first message."""


def agent_key(exchange: Exchange) -> str:
    """The session that a request names: in a header, as `prompt_cache_key`, `user` or
    `metadata.user_id`. Without any, the texts up to the first message of the user, which are the
    same in each turn; "" for a request that has none either."""
    for header in _HEADERS:
        if value := exchange.header(header):
            return value
    body = exchange.content.value
    if isinstance(body, dict):
        for member in _MEMBERS:
            if value := _text(body.get(member)):
                return value
        metadata = body.get("metadata")
        if isinstance(metadata, dict) and (value := _text(metadata.get("user_id"))):
            return value
    return opening_of(exchange, _MAX_OPENING)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
