"""The fields of a token as commands print them, without its secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from engine.stores.database.tokens import Token


def print_secret(name: str, secret: str, output_format: str) -> None:
    """Print the secret of a token, alone or as one JSON object."""
    click.echo(json.dumps({"name": name, "secret": secret}) if output_format == "json" else secret)


def iso_time(seconds: float | None) -> str | None:
    """Unix seconds in ISO 8601, UTC, to the second."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fields_of(token: Token, now: float) -> Mapping[str, Any]:
    """The fields of a token without its secrets; None for those that are not set."""
    rotated = token.previous_until is not None and token.previous_until > now
    return {
        "name": token.name,
        "team": token.team,
        "state": _state(token, now),
        "models": _list(token.models),
        "operations": _list(token.operations),
        "ips": _list(token.ips),
        "rate": token.rate,
        "token_budget": token.token_budget,
        "budget": token.budget,
        "concurrency": token.concurrency,
        "warn_at": _list(token.warn_at),
        "priority": token.priority,
        "created": iso_time(token.created),
        "expires": iso_time(token.expires),
        "revoked": iso_time(token.revoked),
        "old_secret_until": iso_time(token.previous_until) if rotated else None,
        "note": token.note,
        "sha256": token.sha256,
    }


def _state(token: Token, now: float) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= now else "active"


def cell(value: object) -> str:
    """A field as text."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else str(value)


def _list(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)
