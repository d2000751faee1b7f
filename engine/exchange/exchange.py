"""One request, its response, and the handlers and stages between them."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, Final, NamedTuple

from msgspec import Struct

from engine.exchange.caller_connection import NO_CONNECTION, CallerConnection
from engine.exchange.member_protocols import (
    UNMETERED,
    Dialect,
    Headers,
    Metering,
    Part,
    Trace,
    Upgrade,
)
from engine.exchange.opened_ids import OpenedIds
from engine.exchange.request_body import Body, BodyReader, ReceivedBody
from engine.exchange.request_record import RequestRecord
from engine.exchange.requested_model import NO_MODEL, RequestedModel
from engine.values.caller import Caller
from engine.values.counters import TakeResult

log = logging.getLogger("modelway")

MISSING: Any = object()
"""The absence of a value in a request (None is a JSON value)."""


class Content(NamedTuple):
    """What the body of a request says: `value` is the parsed body, a JSON value or the fields of a
    form, MISSING if it was not parsed; `parts` are the fields of a multipart body."""

    media_type: str = ""
    value: object = MISSING
    parts: Sequence[Part] = ()


NO_VARIABLES: Mapping[str, tuple[int, int]] = MappingProxyType({})
"""The variables of a path without any."""

_NO_CONTENT = Content()
_NO_BODY = Body()  # immutable
_NOTHING_TO_READ = ReceivedBody(_NO_BODY, max_size=0)


class Response(Struct):
    """A response: `body` is the whole body, or an iterator that yields bytes as they arrive.

    The names of `headers` are in lower case; `gateway_headers` replace headers of the same name
    from an upstream.
    """

    status: int
    headers: list[tuple[str, str]]
    body: bytes | Iterable[bytes] = b""
    gateway_headers: Mapping[str, str] | None = None


class RequestEdits(NamedTuple):
    """The edits that transforms have made in a request: `original` is a copy of it before them,
    `headers` changes the headers that an upstream gets; None for no change."""

    original: Exchange
    headers: Callable[[Headers], Headers] | None = None


class Exchange:
    """One request on its way through the stages of its route.

    `path` and `query` are raw, still percent-encoded. `path` begins with the prefix under which the
    document is mounted (`mount`); `variables` has the span of each template variable in it.
    `environ` is the WSGI environ. `operation` is the operation's id, `spec.operationId`; `dialect`
    is the caller's, and so is the `connection`.

    `token` is the digest of the token by which `caller` was found, "" without one;

    `body_reader` reads the `body`, and `content` is what that says.

    `model` is the requested model with its targets. `edits` are those of transforms, None if none
    has edited the request.

    `head_take` is what the request took of the quotas that its head decides, None for nothing.

    `metering` says how usage is counted.

    `objects` are those that the request names, None where no ids are sealed.

    `upgrade` is set if the request asks for a WebSocket, `trace` if requests are traced. `on_end`
    has the callbacks that run when the response was sent or the caller has disconnected.
    """

    method: Final[str]
    request_id: Final[str]
    dialect: Final[Dialect]
    connection: Final[CallerConnection]
    record: Final[RequestRecord]
    on_end: Final[list[Callable[[], None]]]
    path: str
    query: str
    environ: Mapping[str, Any]
    mount: str
    variables: Mapping[str, tuple[int, int]]
    body_reader: BodyReader = _NOTHING_TO_READ
    body: Body = _NO_BODY
    content: Content = _NO_CONTENT
    caller: Caller | None = None
    token: str = ""
    model: RequestedModel = NO_MODEL
    upgrade: Upgrade | None = None
    operation: str = ""
    edits: RequestEdits | None = None
    head_take: TakeResult | None = None
    metering: Metering = UNMETERED
    trace: Trace | None = None
    objects: OpenedIds | None = None

    def __init__(
        self,
        method: str,
        path: str,
        query: str,
        environ: Mapping[str, Any],
        dialect: Dialect,
        request_id: str = "",
        mount: str = "",
        variables: Mapping[str, tuple[int, int]] = NO_VARIABLES,
        connection: CallerConnection = NO_CONNECTION,
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.environ = environ
        self.dialect = dialect
        self.request_id = request_id
        self.mount = mount
        self.variables = variables
        self.connection = connection
        self.on_end = []
        self.record = RequestRecord()

    def __copy__(self) -> Exchange:
        """A copy for one target, whose request may have another path, query, headers or body."""
        duplicate = Exchange.__new__(Exchange)
        duplicate.__dict__.update(self.__dict__)
        return duplicate

    def header(self, key: str) -> str | None:
        """A request header by its WSGI name (see `environ_key`)."""
        value = self.environ.get(key)
        return None if value is None else str(value)

    def variable(self, name: str) -> str:
        """The raw text of a path template's variable."""
        start, end = self.variables[name]
        return self.path[start:end]

    def replace_variable(self, name: str, text: str) -> None:
        """Write another raw text in the place of a path template's variable."""
        start, end = self.variables[name]
        growth = len(text) - (end - start)
        self.path = self.path[:start] + text + self.path[end:]
        self.variables = {
            each: (
                first + growth if first >= end else first,
                last + growth if last >= end else last,
            )
            for each, (first, last) in self.variables.items()
        }

    def rewrite_query(self) -> None:
        """Write the exchange's query to the environ, from which the server logs it."""
        environ = self.environ
        if isinstance(environ, dict) and "QUERY_STRING" in environ:
            environ["QUERY_STRING"] = self.query
            environ["RAW_URI"] = f"{self.path}?{self.query}" if self.query else self.path

    def end(self) -> None:
        """Run the `on_end` callbacks, last in first out, each exactly once.

        An exception of a callback is logged and the others run, so that bookkeeping never truncates
        a response. If the greenlet is killed during a callback, the others run and the kill
        continues.
        """
        on_end = self.on_end
        while on_end:
            callback = on_end.pop()
            try:
                callback()
            except Exception:
                log.exception("request %s: a callback at its end failed", self.request_id)
            except BaseException:
                self.end()
                raise


Handler = Callable[[Exchange], Response]
"""Responds to a request. Raises GatewayError for an error response."""

Stage = Callable[[Exchange, Handler], Response]
"""One step of a route: it may change the request, calls the next handler, may change the
response."""

Observer = Callable[[Exchange], None]
"""Called once, when an exchange begins or when it has ended."""


def compose(stages: Sequence[Stage], last: Handler) -> Handler:
    """A handler: `compose([a, b], last)` calls a, which calls b, which calls last."""
    handler = last
    for stage in reversed(stages):
        handler = _bind(stage, handler)
    return handler


def _bind(stage: Stage, following: Handler) -> Handler:
    """A stage as a handler: a copy of its function in which `following` is the default of the last
    parameter, so that no call lies between two stages."""
    step: Any = stage
    call: Any = step if isinstance(step, FunctionType | MethodType) else step.__call__
    function = getattr(call, "__func__", call)
    if not isinstance(function, FunctionType) or function.__defaults__ or function.__kwdefaults__:
        return lambda exchange: stage(exchange, following)
    copy = FunctionType(
        *(function.__code__, function.__globals__, function.__name__),
        *((following,), function.__closure__),
    )
    return copy if function is call else MethodType(copy, call.__self__)


def new_request_id() -> str:
    """`req_`, milliseconds since 1970 in 12 hexadecimal digits, then 80 random bits in 20.

    Ids are ordered by time, so that a database index grows only at its end.
    """
    milliseconds = (time.time_ns() // 1_000_000).to_bytes(6, "big")
    return f"req_{(milliseconds + os.urandom(10)).hex()}"
