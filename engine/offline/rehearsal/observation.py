"""What is played, and what was seen: values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from engine.exchange.exchange import Exchange
from engine.plan.route import Route
from engine.spec.security import Carrier
from engine.values.counters import Limit
from engine.values.errors import GatewayError

Pairs = Sequence[tuple[str, str]]

Taking = tuple[Limit, int]
"""A limit, and what a request takes of it."""

FAILURES = ("connect", "timeout", "reset")
"""What an upstream may do instead of answering."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as a caller would send it. `target` is the path with its query, as on the wire;
    `address` is where it comes from."""

    method: str
    target: str
    headers: Pairs = ()
    body: bytes = b""
    address: str = "127.0.0.1"


def request(
    method: str, target: str, headers: Pairs, body: bytes, address: str = "127.0.0.1"
) -> Request:
    """The request; a body that is JSON, or was to be an object or a list, gets its
    Content-Type when it has none."""
    told = any(name.lower() == "content-type" for name, _ in headers)
    if body and not told and _is_json(body):
        headers = [*headers, ("content-type", "application/json")]
    return Request(method, target, tuple(headers), body, address)


def _is_json(body: bytes) -> bool:
    if body.lstrip()[:1] in (b"{", b"["):
        return True  # a slip in it is to be told, not that its type is missing
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Answers:
    """What upstreams answer: a status, or one of FAILURES; by upstream where it is named."""

    all: int | str = 200
    each: Mapping[str, int | str] = field(default_factory=dict)

    def of(self, upstream: str) -> int | str:
        """What this one answers."""
        return self.each.get(upstream, self.all)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as an upstream would get it, credentials in it; `answered` is what it said."""

    upstream: str
    method: str
    url: str
    headers: Pairs
    body: bytes
    answered: int | str


@dataclass(slots=True)
class Step:
    """A stage on the way, by its name; whether it let the request pass."""

    name: str
    passed: bool = False


@dataclass(slots=True)
class Seen:
    """All that was seen of a request. `route` and `exchange` are None when nothing serves it.

    `carried` are the carriers that held something; `error` is what refused it, once a route had
    it; `log` holds the lines the gateway would have logged, `reported` the places that a stricter
    validation would refuse.
    """

    request: Request
    route: Route | None = None
    exchange: Exchange | None = None
    carried: list[Carrier] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    limits: list[Taking] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    error: GatewayError | None = None
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    log: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)

    @property
    def refused_by(self) -> str:
        """The stage that refused it; "" when none did."""
        if self.error is None or not self.steps or self.steps[-1].passed:
            return ""
        return self.steps[-1].name

    def step(self, name: str) -> Step | None:
        """The stage of that name, if the request came as far as that."""
        return next((step for step in self.steps if step.name == name), None)
