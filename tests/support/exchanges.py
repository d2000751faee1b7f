"""The builder of exchanges for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import dialects
from engine.exchange.exchange import Exchange

_FIELDS = frozenset(Exchange.__annotations__)


def new_exchange(
    method: str = "POST",
    path: str = "/",
    query: str = "",
    environ: Mapping[str, Any] | None = None,
    request_id: str = "req_1",
    *,
    record: Mapping[str, Any] | None = None,
    variables: Mapping[str, tuple[int, int]] | None = None,
    **fields: Any,
) -> Exchange:
    """An exchange with these `fields`, its RequestRecord with those of `record`.

    The dialect is OpenAI's unless it is given. Raises TypeError for an unknown field.
    """
    exchange = Exchange(method, path, query, environ or {}, request_id, variables=variables)
    exchange.dialect = dialects.get("openai")
    if unknown := fields.keys() - _FIELDS:
        raise TypeError(f"an exchange has no {', '.join(sorted(unknown))}")
    for name, value in fields.items():
        setattr(exchange, name, value)
    for name, value in (record or {}).items():
        if not hasattr(exchange.record, name):
            raise TypeError(f"a record has no {name}")
        setattr(exchange.record, name, value)
    return exchange
