"""Values of a rehearsal: the request, the answers of upstreams, and the observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.internal_request import Pairs, Request
from engine.offline.rehearsal.target_translations import TargetTranslation
from engine.plan.route import Route
from engine.spec.security import Carrier
from engine.values.counters import Limit
from engine.values.errors import GatewayError

QuotaTake = tuple[Limit, int]
"""A limit, and the amount that a request takes of it."""

FAILURES = ("connect", "timeout", "reset")
"""Failures of an upstream that can replace its response."""


def request(
    method: str, target: str, headers: Pairs, body: bytes, address: str = "127.0.0.1"
) -> Request:
    """A request. A body that is JSON, or begins like an object or array, gets Content-Type
    application/json if `headers` have none."""
    is_typed = any(name.lower() == "content-type" for name, _ in headers)
    if body and not is_typed and _is_json(body):
        headers = [*headers, ("content-type", "application/json")]
    return Request(method, target, tuple(headers), body, address)


def _is_json(body: bytes) -> bool:
    if body.lstrip()[:1] in (b"{", b"["):
        return True  # so that a syntax error is reported, not the missing Content-Type
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True


class UpstreamAnswers(msgspec.Struct, frozen=True):
    """The answers of upstreams: a status or one of FAILURES, for `all`, or for `each` by name."""

    all: int | str = 200
    each: Mapping[str, int | str] = msgspec.field(default_factory=dict)

    def of(self, upstream: str) -> int | str:
        """The answer of one upstream."""
        return self.each.get(upstream, self.all)


class SentRequest(msgspec.Struct, frozen=True):
    """A request as the upstream receives it, with credentials; `answer` is the upstream's."""

    upstream: str
    method: str
    url: str
    headers: Pairs
    body: bytes
    answer: int | str


@dataclass(slots=True, eq=False)
class Step:
    """A stage that ran; `passed`: it called the next one."""

    name: str
    passed: bool = False


@dataclass(slots=True)
class Rehearsal:
    """The observations of a request. `route` and `exchange` are None if no route serves it.

    `stages` are the names of the route's stages in their order, `steps` are those that ran.
    `carried` are the carriers with a value; `error` is the refusal of a stage; `log` has the lines
    that the gateway logs, `reported` the places that strict validation would refuse.
    `translations` has an entry for each target of a request that passed all stages, None for a
    target without a translation.
    """

    request: Request
    route: Route | None = None
    exchange: Exchange | None = None
    carried: list[Carrier] = field(default_factory=list)
    stages: Sequence[str] = ()
    steps: list[Step] = field(default_factory=list)
    limits: list[QuotaTake] = field(default_factory=list)
    sent_requests: list[SentRequest] = field(default_factory=list)
    error: GatewayError | None = None
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    log: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    translations: list[TargetTranslation | None] = field(default_factory=list)

    @property
    def refused_by(self) -> str:
        """The stage that refused the request, "translation" if no target can get it; "" for
        none."""
        if self.error is None or not self.steps:
            return ""
        if not self.steps[-1].passed:
            return self.steps[-1].name
        refusals = [t is not None and t.target_request is None for t in self.translations]
        return "translation" if refusals and all(refusals) else ""

    @property
    def reached_targets(self) -> bool:
        """Whether every stage passed the request on."""
        return bool(self.steps) and all(step.passed for step in self.steps)

    def translation(self, request: SentRequest) -> TargetTranslation | None:
        """The translation that produced a request to an upstream, None for none."""
        return next((o for o in self.translations if o is not None and _is_of(o, request)), None)

    def step(self, name: str) -> Step | None:
        """The stage of that name, if it ran."""
        return next((step for step in self.steps if step.name == name), None)


def _is_of(translation: TargetTranslation, request: SentRequest) -> bool:
    target_request = translation.target_request
    return (
        target_request is not None
        and translation.upstream == request.upstream
        and request.url.partition("?")[0].endswith(target_request.path)
        and target_request.body == request.body
    )
