"""How a token is shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.stores.records.tokens import Token


def state(token: Token, now: float) -> str:
    """`active`, `revoked` or `expired`."""
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= now else "active"


def when(moment: float | None) -> str | None:
    """A time in ISO 8601, UTC, to the second."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(token: Token, now: float) -> Mapping[str, Any]:
    """What may be seen of a token, for people and programs; None where there is no bound."""
    rotated = token.previous_until is not None and token.previous_until > now
    return {
        "name": token.name,
        "state": state(token, now),
        "models": _list(token.models),
        "operations": _list(token.operations),
        "ips": _list(token.ips),
        "rate": token.rate,
        "token_budget": token.token_budget,
        "budget": token.budget,
        "concurrency": token.concurrency,
        "created": when(token.created),
        "expires": when(token.expires),
        "revoked": when(token.revoked),
        "old_secret_until": when(token.previous_until) if rotated else None,
        "note": token.note,
        "sha256": token.sha256,
    }


def cell(value: object) -> str:
    """A value as one piece of text."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else str(value)


def _list(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)
