"""The beginning of a request's prompt: what model servers cache.

The texts of a prompt are those of the dialect's `prompt_members`, in this order, without what
clients change with each request. A body that was not parsed has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from engine.exchange.exchange import Exchange

_MAX_ITEMS = 10_000
"""Values in the body that are looked at: a large one may have millions without a text, and nobody
else of its process is served meanwhile."""


def prompt_prefix(exchange: Exchange, length: int) -> str:
    """The first `length` characters of the texts of a prompt, "" if it has none."""
    return _joined(_prompt_texts(exchange), length)


def opening_of(exchange: Exchange, length: int) -> str:
    """The same up to the end of the first message of the user: what all turns of a conversation
    begin with."""
    return _joined(_opening_texts(exchange), length)


def prompt_values(exchange: Exchange) -> Iterator[Any]:
    """The strings and other values in a prompt, in their order; "" for each list and object."""
    for value in _prompt(exchange):
        yield from _values(value)


def _joined(texts: Iterator[str], length: int) -> str:
    parts: list[str] = []
    for text in islice(texts, _MAX_ITEMS):
        parts.append(text[:length])
        length -= len(text)
        if length <= 0:
            break
    return "".join(parts)


def _prompt_texts(exchange: Exchange) -> Iterator[str]:
    for value in _prompt(exchange):
        yield from map(exchange.dialect.stable_text, _texts(value))


def _opening_texts(exchange: Exchange) -> Iterator[str]:
    for value in _prompt(exchange):
        for item in value if isinstance(value, list) else (value,):
            yield from map(exchange.dialect.stable_text, _texts(item))
            if isinstance(item, dict) and item.get("role") == "user":
                return


def _prompt(exchange: Exchange) -> Iterator[Any]:
    """The members of the body that hold the prompt."""
    body = exchange.content.value
    if isinstance(body, dict):
        for member in exchange.dialect.prompt_members:
            if member in body:
                yield body[member]


def _texts(value: Any) -> Iterator[str]:
    """The strings in a JSON value, in their order, and "" for each other value, so that those are
    counted as well."""
    for each in _values(value):
        yield each if isinstance(each, str) else ""


def _values(value: Any) -> Iterator[Any]:
    """The values in a JSON value, in their order, and "" for each list and object; iterative,
    because it may be nested deeply."""
    pending: list[Iterator[Any]] = [iter((value,))]
    while pending:
        for below in pending[-1]:
            if not isinstance(below, dict | list):
                yield below
                continue
            yield ""
            if below:
                pending.append(iter(below.values() if isinstance(below, dict) else below))
                break
        else:
            pending.pop()
