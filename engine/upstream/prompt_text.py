"""The beginning of a request's prompt: what model servers cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.exchange.exchange import Exchange


def prompt_prefix(exchange: Exchange, length: int) -> str:
    """The first `length` characters of the texts of a prompt, in the order of the dialect's
    `prompt_members`, without what clients change with each request; "" if the body was not parsed
    or has none."""
    body = exchange.content.value
    if not isinstance(body, dict):
        return ""
    parts: list[str] = []
    for member in exchange.dialect.prompt_members:
        if member in body:
            for text in map(exchange.dialect.stable_text, _texts(body[member])):
                parts.append(text[:length])
                length -= len(text)
                if length <= 0:
                    return "".join(parts)
    return "".join(parts)


def _texts(value: Any) -> Iterator[str]:
    """The strings in a JSON value, in their order; iterative, because it may be nested deeply."""
    pending: list[Iterator[Any]] = [iter((value,))]
    while pending:
        for below in pending[-1]:
            if isinstance(below, str):
                yield below
            elif isinstance(below, dict | list):
                pending.append(iter(below.values() if isinstance(below, dict) else below))
                break
        else:
            pending.pop()
