"""Upstreams and targets: everything that sending a request to one needs, built at start-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

from engine import dialects
from engine.config.transforms import TransformConfig
from engine.config.upstreams import BreakerConfig, HeaderChanges, Retry, UpstreamConfig
from engine.credentials.interface.credential import Credential, LiveCredential, OpenCredential
from engine.dialects import Dialect
from engine.relay.request_headers import Forwarded
from engine.relay.response_headers import ResponseHeaders
from engine.source.problem import Path
from engine.transforms.compile import compile_all
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.template import literal
from engine.transforms.transform import RequestEdits, Transform
from engine.transforms.upstream_side import UpstreamEdits
from engine.upstream.admission.gate import Gate
from engine.upstream.admission.gates import Gates
from engine.upstream.breaker import CircuitBreaker
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.credentials import Credentials
from engine.upstream.location_headers import UpstreamUrl
from engine.upstream.retry import Budget
from engine.upstream.target_state import TargetState
from engine.values.admission import AdmissionQueues
from engine.values.redaction import Redaction, is_secret_name


@dataclass(slots=True)
class Upstream:
    """A named server in one worker: client, credentials, retry budget and circuit breakers.

    `states` has the state of its targets for each entry under `models` and model name.
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
    url: str = ""
    redaction: Redaction = field(default_factory=lambda: Redaction(()))
    states: dict[tuple[str, str], TargetState] = field(default_factory=dict)
    transforms: tuple[Transform, ...] = ()
    gates: Gates | None = None

    def headers(self, dialect_headers: tuple[str, ...], needed: tuple[str, ...] = ()) -> Forwarded:
        """The request headers that pass from a route of a dialect; `needed` ones always do."""
        return Forwarded((*dialect_headers, *self.forward_headers), needed)

    def response_headers(self, dialect: Dialect, declared: Sequence[str] = ()) -> ResponseHeaders:
        """The rules for response headers on a route of a dialect; `declared` are those of the
        operation's document. Of the route's and the upstream's dialect the stricter one counts."""
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
        """A target of this upstream, for an `entry` under `models`. `model` is its name for the
        model, `configured` the one in the config; targets that share both share their state.
        `transform` and `max_in_flight` are the target's own."""
        state = self.states.get((entry, configured))
        if state is None:
            breaker = CircuitBreaker(**asdict(self.breaker))
            state = self.states[entry, configured] = TargetState(
                breaker, f"{self.name}/{entry}/{configured}"
            )
        edits = UpstreamEdits((*self.transforms, *compile_all(transform, upstream=True)))
        gates = self.gates.of_target(model, entry, max_in_flight) if self.gates else ()
        exact_entry = "" if "*" in entry else entry
        return Target(self, model, weight, state, entry, exact_entry, edits, gates)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """An upstream with its name for the model ("" for the requested name), a weight, its state.

    `entry` is the key under `models`; `exact_entry` is the same, or "" for a wildcard. `edits` are
    those of its requests. `gates` bound how many it gets at one time.
    """

    upstream: Upstream
    model: str
    weight: float
    state: TargetState
    entry: str = ""
    exact_entry: str = ""
    edits: UpstreamEdits = field(default_factory=UpstreamEdits)
    gates: tuple[Gate, ...] = ()

    @property
    def name(self) -> str:
        """The name in logs and metrics: `upstream/model`, or the upstream alone."""
        return f"{self.upstream.name}/{self.model}" if self.model else self.upstream.name


def open_alone(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
    """The credential for one worker, which shares it with no other."""
    return credential.open(None, changed)


def connect(
    config: UpstreamConfig,
    client: Callable[..., Client] = Client,
    open_credential: OpenCredential = open_alone,
    queues: AdmissionQueues | None = None,
) -> Upstream:
    """Build an upstream; `client` makes its client, which opens sockets on first use, and
    `open_credential` its credentials, which fetch nothing before. Without `queues` it gets any
    number of requests at one time."""
    tls = config.tls
    timeouts = Timeouts(**config.timeouts)
    built = client(
        config.url,
        timeouts=timeouts,
        pool_size=config.pool,
        ca=tls.ca,
        cert=(tls.certificate, tls.key or tls.certificate) if tls.certificate else None,
        verify=tls.verify,
        proxy=config.proxy,
    )
    secrets = [*_secrets(config, built)]

    def redact() -> None:
        fetched = (secret for credential in credentials for secret in credential.secrets)
        upstream.redaction = Redaction((*secrets, *fetched))

    credentials = [open_credential(credential, redact) for credential in config.credentials]
    upstream = Upstream(
        name=config.name,
        dialect=config.dialect,
        client=built,
        timeouts=timeouts,
        credentials=Credentials(credentials),
        retry=config.retry,
        budget=Budget(config.retry.budget),
        breaker=config.breaker,
        heartbeat=config.heartbeat,
        forward_headers=config.forward_headers,
        ask_usage=config.ask_usage,
        url=config.url,
        transforms=(
            *header_changes(config.headers, config.at),
            *compile_all(config.transform, upstream=True),
        ),
        gates=Gates(config, queues),
    )
    redact()
    return upstream


def header_changes(changes: HeaderChanges, at: Path) -> tuple[Transform, ...]:
    """`headers: {set, add, remove}` of an upstream at `at`, as a transform whose values are no
    templates; none without changes."""
    edits = HeaderEdits(
        remove=changes.remove,
        add={name: literal(value) for name, value in changes.add.items()},
        set={name: literal(value) for name, value in changes.set.items()},
    )
    return (Transform((*at, "headers"), RequestEdits(edits)),) if edits else ()


def _secrets(config: UpstreamConfig, client: Client) -> Iterator[str]:
    """The secrets that only the upstream, or the proxy in front of it, may see."""
    for credential in config.credentials:
        yield from credential.secrets
    transforms = (
        *header_changes(config.headers, config.at),
        *compile_all(config.transform, upstream=True),
    )
    for transform in transforms:
        header, query = transform.request.header, transform.request.query
        for values in (header.set, header.add, query.set, query.default):
            for name, template in values.items():
                if is_secret_name(name) and template.constant is not None:
                    yield template.constant
    if client.proxy_authorization:
        yield client.proxy_authorization
