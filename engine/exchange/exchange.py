"""One request on its way, with what we learned about it, and the answer that comes back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engine.exchange.body import Body
from engine.values.caller import Caller
from engine.values.usage import NOTHING, Usage

log = logging.getLogger("modelway")

MISSING: Any = object()
"""Stands for a value that the request does not have (None is a value of JSON)."""


@dataclass(slots=True)
class Response:
    """An answer: `body` is all of it, or an iterator that yields bytes as they arrive. The names of
    its headers are in lower case; `own`, if there are any, are sent in place of an upstream's."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | Iterable[bytes] = b""
    own: Mapping[str, str] | None = None


class Attempt(NamedTuple):
    """One attempt at a target, `upstream/model`: `failure` is its class, "" when it answered well,
    `status` the upstream's, 0 without an answer. `began` on the steady clock; `seconds` until the
    first content or the failure. `model` is what the upstream was asked for."""

    target: str
    upstream: str
    model: str
    failure: str
    status: int
    began: float
    seconds: float


class RequestRecord:
    """What is known of an exchange for those who observe its end.

    `time` in Unix seconds, `began` on the steady clock. `outcome` is complete, caller_left,
    upstream_cut, shutdown (the worker ended first), refused or failed; `code` is that of the error
    the caller was told, `limit` the policy that refused it (`token` for a limit of the token's
    own); `uncounted`: the counters were away. `model` and `upstream` are those that served; `asked`
    and `entry` are the names under `models` by which the model asked for, and the one that served,
    were found. `reached` tells whether an upstream was sent anything, `tries` whom it was sent to.
    `expected` is what it was estimated to use, if anybody asked (`estimate.expected`). `cost` in
    nano-units.

    Seconds: `first_byte` from the beginning to the first content; `waited` for upstreams and for
    the caller's body; `duration` of all of it. `told` is when the upstream had said everything, on
    the steady clock, 0 if it never had. Of a stream `events` counts what passed; `longest_gap` is
    the longest time between two of them.
    """

    time: float = 0.0
    began: float = 0.0
    status: int = 0
    outcome: str = ""
    code: str = ""
    limit: str = ""
    model: str = ""
    upstream: str = ""
    asked: str = ""
    entry: str = ""
    attempts: int = 0
    waited: float = 0.0
    duration: float = 0.0
    told: float = 0.0
    events: int = 0
    longest_gap: float = 0.0
    uncounted: bool = False
    reached: bool = False
    stream: bool = False
    first_byte: float | None = None
    bytes_out: int = 0
    expected: Usage = NOTHING
    usage: Usage = NOTHING
    cost: int = 0

    def __init__(self) -> None:
        self.tries: list[Attempt] = []  # all else is as above until it is known

    @property
    def own(self) -> float:
        """The gateway's own share of the duration: what is left of it without waiting for others.

        From the first content of an answer to its end the upstream and the caller set the pace.
        """
        return max(0.0, self.duration - self.waited)

    def end(self, status: int, outcome: str, code: str = "") -> None:
        """It is over, and how."""
        self.status, self.outcome, self.code = status, outcome, code

    def close(self, now: float) -> None:
        """Nothing more will come; `now` on the steady clock."""
        self.duration = now - self.began
        self.outcome = self.outcome or "caller_left"
        if self.outcome == "complete" and self.status >= 400:
            # What an upstream said of a failure to its end is no less one.
            self.outcome = "refused" if self.status < 500 else "failed"
        if self.first_byte is not None:
            self.waited += (self.told or now) - self.began - self.first_byte


@dataclass(slots=True)
class Passed:
    """Messages that passed one way, and the bytes that were said in them."""

    messages: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Traffic:
    """What passed in a session: `sent` to the upstream, `received` from it, in `seconds`.

    `usage` is what the upstream told of, added up; `code` is the close code for the caller,
    `outcome` as an RequestRecord's.
    """

    sent: Passed = field(default_factory=Passed)
    received: Passed = field(default_factory=Passed)
    usage: Usage = NOTHING
    outcome: str = "complete"
    seconds: float = 0.0
    code: int = 0


class Exchange:
    """A request on its way.

    `path` is raw, still percent-encoded, and begins with the prefix it was mounted under
    (`mount`); `variables` gives the span of each template variable in it. `query` is raw too.
    `environ` is WSGI's, for the headers. `value` is the body as parsed: a JSON value, or a form
    as a mapping; `parts` are the spans of a multipart body. `receive(max_body)` reads the body.
    `dialect` is the caller's. `model` is what the caller asks for, `model_at` its span in the
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
    model_at: tuple[int, int] | None = None
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

    def conceal(self) -> None:
        """Let the server's own log see the query as it is now, without what was taken out."""
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
