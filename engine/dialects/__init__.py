"""How an API speaks: its errors, its stream events, its usage, its list of models.

One file, one dialect. A dialect is a module here that defines `DIALECT`; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

from engine.dialects.usage import Meter
from engine.values.errors import GatewayError
from engine.values.usage import Usage

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model as a list of models shows it. `created` is in Unix seconds; `methods` are the custom
    methods (`generateContent`) that its operations' paths end in."""

    name: str
    title: str
    owner: str
    created: int
    methods: tuple[str, ...] = ()


class ModelList:
    """Models in the order in which they are listed: their names, and a JSON value for each, as
    `Dialect.model` makes it (rendered or not)."""

    def __init__(self, names: Sequence[str], documents: Sequence[Any]) -> None:
        self.names = names
        self.documents = documents

    def __len__(self) -> int:
        return len(self.names)

    def place(self, name: str | None) -> int | None:
        """Where a model stands in the list; None for one that is not in it."""
        return None if name is None else self._places.get(name)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}


class StreamError(NamedTuple):
    """An error that came in a stream, as an answer of its own: its status and its body."""

    status: int
    document: Any


def status_in(value: Any) -> int | None:
    """The HTTP status of an error that a member tells, as a number or as digits; None for none."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 400 <= value <= 599 else None


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The parts in which APIs differ. Every function is pure.

    `claims` tells whether a request that several dialects could answer speaks this one.
    `error` makes the error object, `is_error` knows one, `error_event` wraps one for a stream
    whose status is already sent; `stream_error` reads the JSON of one that a stream began with,
    None for an error of an unknown kind; `has_content` tells a stream's events that a caller sees
    something of from those that only begin it. `heartbeat` is a sign of life in a stream.
    `models` and `model` answer the list of models; `models` gets the query's parameters. A
    `transparent` dialect's answers pass whatever their status. `request_headers` pass to an
    upstream beside those that always do. `response_headers` (wildcards) of its answer pass beside
    those that describe the body; `hidden_headers` never do, whatever the document declares. For a
    transparent dialect see `engine.relay.response_headers`. `meter` reads what a request used; None
    where nobody can tell.

    Over a WebSocket: those of `subprotocols` (wildcards) pass to an upstream, `socket_error` makes
    the message that tells of an error, `socket_usage` reads the usage that a message tells of.
    """

    name: str
    claims: Callable[[Mapping[str, Any], str], bool]
    error: Callable[[GatewayError, str], Document]
    is_error: Callable[[Any], bool]
    error_event: Callable[[bytes], bytes]
    stream_error: Callable[[Any], StreamError | None]
    has_content: Callable[[Any], bool]
    models: Callable[[ModelList, Mapping[str, str]], Document]
    model: Callable[[ModelCard], Document]
    request_headers: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    hidden_headers: frozenset[str] = frozenset()
    request_id_headers: tuple[str, ...] = ("x-request-id",)
    meter: Meter | None = None
    transparent: bool = False
    heartbeat: bytes = b""
    event_names: bool = True
    comments: bool = True
    subprotocols: tuple[str, ...] = ("*",)
    socket_error: Callable[[GatewayError, str], bytes] | None = None
    socket_usage: Callable[[bytes | bytearray], Usage | None] | None = None


@cache
def names() -> list[str]:
    """The dialects there are."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in modules if name != "usage")


def get(name: str) -> Dialect:
    """The dialect of that name, one of `names()`."""
    dialect = importlib.import_module(f"{__name__}.{name}").DIALECT
    assert isinstance(dialect, Dialect)
    return dialect


def limit_of(parameters: Mapping[str, str], name: str, default: int) -> int:
    """A page size from the query: a whole number from 1 to 1000, else GatewayError 400."""
    text = parameters.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= 1000):
        raise GatewayError(
            400, "invalid_value", f"'{name}' must be a whole number from 1 to 1000.", param=name
        )
    return int(text)
