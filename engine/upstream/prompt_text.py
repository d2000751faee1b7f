"""The beginning of a request's prompt: what model servers cache."""

from __future__ import annotations

from typing import Any

from engine.exchange.exchange import Exchange


def prompt_prefix(exchange: Exchange, length: int) -> str:
    """The first characters of the texts of a prompt, in the order in which the dialect puts them
    before the model; "" where the body was not parsed or has none."""
    body = exchange.value
    if not isinstance(body, dict):
        return ""
    parts: list[str] = []
    for member in exchange.dialect.prompt_members:
        if length > 0 and member in body:
            length = _collect(body[member], parts, length)
    return "".join(parts)


def _collect(value: Any, parts: list[str], length: int) -> int:
    """Add the strings in a JSON value to `parts`, in their order, up to `length` characters.
    Returns what is left of these."""
    if isinstance(value, str):
        parts.append(value[:length])
        return length - len(value)
    if isinstance(value, dict | list):
        for below in value.values() if isinstance(value, dict) else value:
            length = _collect(below, parts, length)
            if length <= 0:
                break
    return length
