"""One request on its way, with what we learned about it, and the answer that comes back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.exchange.body import Body
from engine.exchange.record import RequestRecord, Traffic
from engine.values.caller import Caller

log = logging.getLogger("modelway")

MISSING: Any = object()
"""Stands for a value that the request does not have (None is a value of JSON)."""


@dataclass(slots=True)
class Response:
    """An answer: `body` is all of it, or an iterator that yields bytes as they arrive. The names of
    its headers are in lower case; `gateway_headers` replace an upstream's of the same name."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | Iterable[bytes] = b""
    gateway_headers: Mapping[str, str] | None = None


class Exchange:
    """A request on its way.

    `path` is raw, still percent-encoded, and begins with the prefix it was mounted under
    (`mount`); `variables` gives the span of each template variable in it. `query` is raw too.
    `environ` is WSGI's, for the headers. `value` is the body as parsed: a JSON value, or a form
    as a mapping; `parts` are the spans of a multipart body. `receive(max_body)` reads the body.
    `dialect` is the caller's. `model` is what the caller asks for, `model_span` its span in the
    body, `repeats` where else the body says it, `targets` those that can serve it, in the order in
    which they are tried. `edits` are what the gateway changes in the body on its own account.
    `takes` says how to estimate what it uses (`estimate.Takes`), None where it uses nothing.
    `operation` is known as `spec.operationId`. `upgrade` is there when the request is to become a
    WebSocket, `traffic` when it has. `on_end` runs when the answer is out, or the caller has left.
    `trace` is for those who trace it, `trace.sent(headers)` for whoever sends it on.
    """

    receive: Callable[[int], Body] = staticmethod(lambda limit: Body())
    max_body: int = 0
    body: Body = Body()  # nobody changes what it holds
    media_type: str = ""
    value: Any = MISSING
    parts: Sequence[Any] = ()
    dialect: Any = None
    caller: Caller | None = None
    model: str = ""
    model_span: tuple[int, int] | None = None
    repeats: Sequence[tuple[int, int, str]] = ()
    targets: Sequence[Any] = ()
    upgrade: Any = None
    traffic: Traffic | None = None
    operation: str = ""
    edits: Sequence[tuple[int, int, bytes]] = ()
    takes: Any = None
    trace: Any = None

    def __init__(
        self,
        method: str,
        path: str,
        query: str,
        environ: Mapping[str, Any],
        request_id: str = "",
        mount: str = "",
        variables: Mapping[str, tuple[int, int]] | None = None,
        **known: Any,
    ) -> None:
        """`known`: what else is known of it from the beginning. TypeError for another name."""
        self.method, self.path, self.query, self.environ = method, path, query, environ
        self.request_id, self.mount = request_id, mount
        self.variables = {} if variables is None else variables
        self.on_end: list[Callable[[], None]] = []
        self.record = RequestRecord()
        if known:
            if unknown := known.keys() - vars(Exchange).keys():
                raise TypeError(f"an exchange has no {', '.join(sorted(unknown))}")
            vars(self).update(known)

    def header(self, key: str) -> str | None:
        """A request header by its WSGI name (see `environ_key`)."""
        value = self.environ.get(key)
        return None if value is None else str(value)

    def variable(self, name: str) -> str:
        """The raw text of a path template's variable."""
        start, end = self.variables[name]
        return self.path[start:end]

    def rewrite_query(self) -> None:
        """Replace the query in the environ, which the server logs, with the exchange's."""
        environ = self.environ
        if isinstance(environ, dict) and "QUERY_STRING" in environ:
            environ["QUERY_STRING"] = self.query
            environ["RAW_URI"] = f"{self.path}?{self.query}" if self.query else self.path

    def end(self) -> None:
        """Run the `on_end` callbacks, last in first out, each exactly once.

        One that fails is logged and the others run: an answer is never cut by bookkeeping. One
        whose greenlet is killed while it waits is given up, the others run, and the kill goes on.
        """
        while self.on_end:
            callback = self.on_end.pop()
            try:
                callback()
            except Exception:
                log.exception("request %s: a step at its end failed", self.request_id)
            except BaseException:
                self.end()
                raise


Handler = Callable[[Exchange], Response]
"""What answers a request. Raises GatewayError when it cannot."""

Observer = Callable[[Exchange], None]
"""What is told of the end of an exchange, once; everything it wants to know is in its account."""

Stage = Callable[[Exchange, Handler], Response]
"""A step on the way: does its part, calls the next handler, may touch what comes back."""


def environ_key(header: str) -> str:
    """The WSGI name of a header: `x-api-key` -> `HTTP_X_API_KEY`."""
    name = header.upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
