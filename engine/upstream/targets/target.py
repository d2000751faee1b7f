"""Upstreams and targets: all that is needed to send them requests; `connect.py` builds them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine import dialects
from engine.config.providers import CallerChoice
from engine.config.transforms import TransformConfig
from engine.config.upstreams import BreakerConfig, Retry
from engine.dialects import Dialect
from engine.relay.request_headers import RequestHeaders, request_headers
from engine.relay.response_headers import ResponseHeaders
from engine.transforms.compile import compile_all
from engine.transforms.transform import Transform
from engine.transforms.upstream_side import UpstreamEdits
from engine.upstream.addresses.replicas import Replica, Replicas
from engine.upstream.admission.gate import Gate
from engine.upstream.admission.upstream_gates import Gates
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.targets.breaker import CircuitBreaker
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.retry import Budget
from engine.upstream.targets.target_state import TargetState
from engine.upstream.targets.upstream_url import UpstreamUrl
from engine.values.redaction import Redaction

_STATE_RETENTION = 300.0
"""Seconds for which the state of an address that left is kept."""


@dataclass(slots=True)
class Upstream:
    """A named server in one worker: client, credentials, retry budget and circuit breakers.

    `states` has the state of its targets by entry under `models` and model name, and by address if
    it has `replicas`: its addresses are followed. `former_states` are those of addresses that left,
    with the time. `edits` are those of targets without a `transform` of their own. `choices` are
    what callers could choose at it besides the model, and must not. `regions` are those in which it
    may process a request.
    """

    name: str
    dialect: str
    client: Client
    timeouts: Timeouts
    credentials: Credentials
    retry: Retry
    budget: Budget
    breaker: BreakerConfig
    heartbeat: float | None
    forward_headers: tuple[str, ...]
    ask_usage: bool = True
    cache_in_input: bool = False
    responses_websocket: bool = False
    url: str = ""
    redaction: Redaction = field(default_factory=lambda: Redaction(()))
    states: dict[tuple[str, ...], TargetState] = field(default_factory=dict)
    transforms: tuple[Transform, ...] = ()
    gates: Gates | None = None
    replicas: Replicas | None = None
    choices: tuple[CallerChoice, ...] = ()
    regions: tuple[str, ...] = ()
    former_states: dict[tuple[str, ...], tuple[float, TargetState]] = field(default_factory=dict)
    edits: UpstreamEdits = field(init=False)

    def __post_init__(self) -> None:
        self.edits = self._edits(self.transforms)

    def _edits(self, transforms: Sequence[Transform]) -> UpstreamEdits:
        of_any = [self.dialect] if self.dialect in dialects.names() else dialects.names()
        return UpstreamEdits(transforms, {dialects.get(name).json_name for name in of_any})

    def headers(
        self, dialect_headers: tuple[str, ...], needed: tuple[str, ...] = ()
    ) -> RequestHeaders:
        """The request headers that pass from a route of a dialect; `needed` ones always do."""
        return request_headers((*dialect_headers, *self.forward_headers), needed)

    def response_headers(self, dialect: Dialect, declared: Sequence[str] = ()) -> ResponseHeaders:
        """The rules for response headers on a route of a dialect; `declared` are those of the
        operation's document. The stricter of the route's and the upstream's dialect applies."""
        strictest = dialect
        if dialect.transparent and self.dialect in dialects.names():
            strictest = dialects.get(self.dialect)
        return ResponseHeaders(
            UpstreamUrl(self.url),
            allowed=None if strictest.transparent else strictest.response_headers,
            hidden=strictest.hidden_headers,
            declared=declared,
        )

    def target(
        self,
        model: str,
        weight: float,
        configured: str = "",
        entry: str = "",
        transform: Sequence[TransformConfig] = (),
        max_in_flight: int | None = None,
    ) -> Target:
        """A target of this upstream, for an `entry` under `models`. `model` is the upstream's name
        for the model, `configured` the one in the config: targets with equal `entry` and
        `configured` share their state. `transform` and `max_in_flight` are those of the target."""
        edits = self.edits
        if transform:
            edits = self._edits((*self.transforms, *compile_all(transform, upstream=True)))
        return Target(
            self,
            model,
            weight,
            self.state(entry, configured),
            entry,
            "" if "*" in entry else entry,
            edits,
            self.client,
            self.gates.of_target(model, entry, max_in_flight, configured) if self.gates else (),
            configured,
        )

    def state(self, entry: str, configured: str, address: str = "") -> TargetState:
        """The state of the targets for an entry, a model name and an address, if they have one."""
        key = (entry, configured, address) if address else (entry, configured)
        state = self.states.get(key)
        if state is None:
            _, state = self.former_states.pop(key, (0.0, None))
            name = f"{self.name}/{entry}/{configured}" + (f"@{address}" if address else "")
            state = state or TargetState(CircuitBreaker(self.breaker), name, key)
            self.states[key] = state
        return state

    def follow(self) -> None:
        """Start following the addresses, if the config says so."""
        if self.replicas is not None:
            self.client.follow(self._update_replicas)

    def _update_replicas(self) -> None:
        """Use the new addresses. The states of addresses that left are kept for a while, because
        DNS answers may alternate."""
        assert self.replicas is not None
        self.replicas.update()
        now, current = time.monotonic(), {str(each) for each in self.replicas.addresses}
        for key in [key for key in self.states if len(key) > 2 and key[2] not in current]:
            self.former_states[key] = now, self.states.pop(key)
        states = self.former_states.items()
        for key in [key for key, (since, _) in states if now - since > _STATE_RETENTION]:
            del self.former_states[key]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """An upstream with its name for the model ("" for the requested name), a weight, its state.

    `entry` is the key under `models`; `exact_entry` is the same, or "" for a wildcard. `edits` are
    those of its requests, which `client` sends. `gates` bound how many it gets at one time, at all
    its addresses together. `configured` is the model name in the config, `address` the one of a
    replica, "" for a target that is none. `name` is that of the access log: `upstream/model`, or
    the upstream alone; a replica has its address behind it. `converts_answers`: its answers are
    edited, or count what they say of the prompt cache twice.
    """

    upstream: Upstream
    model: str
    weight: float
    state: TargetState
    entry: str
    exact_entry: str
    edits: UpstreamEdits
    client: Client
    gates: tuple[Gate, ...] = ()
    configured: str = ""
    address: str = ""
    name: str = field(init=False)
    converts_answers: bool = field(init=False)

    def __post_init__(self) -> None:
        converts_answers = bool(self.edits.responses) or self.upstream.cache_in_input
        object.__setattr__(self, "converts_answers", converts_answers)
        name = f"{self.upstream.name}/{self.model}" if self.model else self.upstream.name
        name = f"{name}@{self.address}" if self.address else name
        object.__setattr__(self, "name", name)

    def with_model(self, model: str) -> Target:
        """The same target, which asks its upstream for another model."""
        return replace(self, model=model)

    def replicas(self) -> Sequence[Sequence[Target]]:
        """The targets for the current addresses of the upstream, by priority; those of a level
        share its weight. Only itself if no addresses are followed."""
        replicas = self.upstream.replicas
        if replicas is None or not replicas.levels or self.address:
            return ((self,),)
        return [[self._replica(each) for each in level] for level in replicas.levels]

    def _replica(self, replica: Replica) -> Target:
        address = str(replica.address)
        return replace(
            self,
            weight=self.weight * replica.share,
            state=self.upstream.state(self.entry, self.configured, address),
            client=replica.client,
            address=address,
        )
