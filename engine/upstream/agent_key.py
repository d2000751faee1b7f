"""The key of an agent's session, for `affinity: agent`.

An agent sends its whole conversation with each turn, so that the server which answered the last
turn has nearly all of it in its prompt cache.
"""

from __future__ import annotations

from engine.exchange.agent_session import session_key
from engine.exchange.exchange import Exchange
from engine.upstream.prompt_text import opening_of

_MAX_OPENING = 20_000
"""Characters of the opening that are read: instructions, and the first message."""


def agent_key(exchange: Exchange) -> str:
    """The session that a request names (`session_key`). Without any, the texts up to the first
    message of the user, which are the same in each turn; "" for a request that has none either."""
    return session_key(exchange) or opening_of(exchange, _MAX_OPENING)
