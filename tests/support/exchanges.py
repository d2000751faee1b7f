"""The builder of exchanges for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine import dialects
from engine.dialects import Dialect
from engine.exchange.caller_connection import NO_CONNECTION, CallerConnection
from engine.exchange.exchange import MISSING, NO_VARIABLES, Content, Exchange
from engine.exchange.member_protocols import Metering, Part, Target
from engine.exchange.request_body import Body
from engine.exchange.requested_model import RequestedModel
from engine.values.usage import Takes

_FIELDS = frozenset(
    name for name, kind in Exchange.__annotations__.items() if not kind.startswith("Final")
)


def set_content(exchange: Exchange, **changes: Any) -> None:
    """Change `media_type`, `value` or `parts` of what the body of an exchange says."""
    exchange.content = exchange.content._replace(**changes)


class BodySource:
    """Reads a body by a function of the bytes that it may have."""

    def __init__(self, receive: Callable[[int], Body], max_size: int = 1000) -> None:
        self._receive, self.max_size = receive, max_size

    def receive(self, max_size: int | None = None) -> Body:
        return self._receive(self.max_size if max_size is None else max_size)


def new_exchange(
    method: str = "POST",
    path: str = "/",
    query: str = "",
    environ: Mapping[str, Any] | None = None,
    request_id: str = "req_1",
    *,
    record: Mapping[str, Any] | None = None,
    variables: Mapping[str, tuple[int, int]] = NO_VARIABLES,
    dialect: Dialect | None = None,
    connection: CallerConnection = NO_CONNECTION,
    takes: Takes | None = None,
    media_type: str = "",
    value: object = MISSING,
    parts: Sequence[Part] = (),
    model: str = "",
    targets: Sequence[Target] = (),
    **fields: Any,
) -> Exchange:
    """An exchange with these `fields`, its RequestRecord with those of `record`.

    The dialect is OpenAI's unless it is given. Raises TypeError for an unknown field.
    """
    exchange = Exchange(
        *(method, path, query, environ or {}, dialect or dialects.get("openai"), request_id),
        variables=variables,
        connection=connection,
    )
    exchange.content = Content(media_type, value, parts)
    exchange.metering = Metering(takes)
    exchange.model = RequestedModel(model, targets=targets)
    if unknown := fields.keys() - _FIELDS:
        raise TypeError(f"an exchange has no {', '.join(sorted(unknown))}")
    for name, value in fields.items():
        setattr(exchange, name, value)
    for name, value in (record or {}).items():
        if not hasattr(exchange.record, name):
            raise TypeError(f"a record has no {name}")
        setattr(exchange.record, name, value)
    return exchange
