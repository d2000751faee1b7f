"""The sections of gateway.yaml as values: durations in seconds, sizes in bytes; `at` is the place.

Defaults are those of the schema (`keys.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine.config.keys import default
from engine.config.telemetry import Telemetry
from engine.source.problem import Path, Source
from engine.values.caller import Caller
from engine.values.client_address import Network
from engine.values.usage import Price


@dataclass(frozen=True, slots=True)
class Server:
    """How the gateway listens."""

    listen: str = default("server.listen")
    workers: int = default("server.workers")
    connections: int = default("server.connections")
    max_body: int = default("server.max_body")
    body_timeout: float = default("server.body_timeout")
    keepalive: float = default("server.keepalive")
    grace: float = default("server.grace")
    debug_headers: bool = default("server.debug_headers")
    trusted_proxies: tuple[Network, ...] = ()
    watch: bool = default("server.watch")
    base_url: str = ""
    request_timeout: float = default("server.request_timeout")


@dataclass(frozen=True, slots=True)
class Console:
    """Which pages are served: home always, when `enabled`."""

    enabled: bool = default("console.enabled")
    playground: bool = default("console.playground")
    docs: bool = default("console.docs")

    def has(self, template: str) -> str:
        """What of the console stands on this path, in words; "" for nothing."""
        if not self.enabled:
            return ""
        if template == "/":
            return "home page"
        if self.docs and template in ("/docs", "/openapi.json"):
            return "reference"
        if self.playground and template in ("/console/playground", "/console/models.json"):
            return "playground"
        return "page files" if template.startswith("/console/page/") else ""


@dataclass(frozen=True, slots=True)
class Stores:
    """Where things are kept: URLs as SQLAlchemy and Redis take them, `counters` may be `memory`.

    `counters_timeout` is in seconds. `on_store_failure` is `local`, `allow` or `deny`; `machines`
    is how many share the counters, for `local`. `retention` None: for ever.
    """

    records: str | None = None
    counters: str = default("stores.counters")
    counters_timeout: float = default("stores.counters_timeout")
    on_store_failure: str = default("stores.on_store_failure")
    machines: int = default("stores.machines")
    token_ttl: float = default("stores.token_ttl")
    journal: FilePath = FilePath(default("stores.journal"))
    retention: float | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A document, where it is served, and how it speaks. `token` holds carriers as written."""

    name: str
    document: str
    dialect: str
    mount: tuple[str, ...]
    token: tuple[Any, ...]
    at: Path
    overlays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Credential:
    """What an upstream is shown: `kind` is header or query, `name` its name there."""

    kind: str
    name: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """How an upstream's certificate is checked, and ours shown. Files are absolute paths."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = default("upstreams.*.tls.verify")


@dataclass(frozen=True, slots=True)
class Retry:
    """When a request is tried again at an upstream; `on` holds classes of failures."""

    attempts: int = default("upstreams.*.retry.attempts")
    on: frozenset[str] = frozenset(default("upstreams.*.retry.on"))
    budget: float = default("upstreams.*.retry.budget")
    max_wait: float = default("upstreams.*.retry.max_wait")


@dataclass(frozen=True, slots=True)
class Breaker:
    """When a target is left alone, and for how long."""

    failures: int = default("upstreams.*.breaker.failures")
    window: float = default("upstreams.*.breaker.window")
    cooldown: float = default("upstreams.*.breaker.cooldown")


@dataclass(frozen=True, slots=True)
class HeaderChanges:
    """Request headers changed on the way to an upstream; names in lower case."""

    set: Mapping[str, str] = field(default_factory=dict)
    add: Mapping[str, str] = field(default_factory=dict)
    remove: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server that requests can go to. `dialect` "" means: as what is routed to it. `ask_usage`:
    its streams are asked to tell what they used."""

    name: str
    url: str
    dialect: str
    credentials: tuple[Credential, ...]
    timeouts: Mapping[str, float]
    forward_headers: tuple[str, ...]
    pool: int
    proxy: str | None
    tls: Tls
    at: Path
    retry: Retry = field(default_factory=Retry)
    breaker: Breaker = field(default_factory=Breaker)
    heartbeat: float | None = None
    headers: HeaderChanges = field(default_factory=HeaderChanges)
    ask_usage: bool = default("upstreams.*.ask_usage")


@dataclass(frozen=True, slots=True)
class Target:
    """An upstream by name, the model's name there ("" means: as asked for), its share."""

    upstream: str
    model: str
    weight: float
    at: Path


@dataclass(frozen=True, slots=True)
class Model:
    """A name or wildcard callers may ask for. `operations` are names or wildcards over
    `spec.operationId`; empty: all that its upstreams speak."""

    name: str
    to: tuple[Target, ...]
    fallback: tuple[str, ...]
    title: str
    owner: str
    created: int
    at: Path
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy by name, with its options as written; `group` names the operations it is for, ""
    all of them."""

    name: str
    options: Any
    at: Path
    group: str = ""


@dataclass(frozen=True, slots=True)
class WebSocket:
    """The limits of a session; `ping` is how long a side may be silent before it is asked,
    `max_pings` how many one side may send a minute."""

    max_message: int = default("routes.*.websocket.max_message")
    idle: float = default("routes.*.websocket.idle")
    session: float = default("routes.*.websocket.session")
    ping: float = default("routes.*.websocket.ping")
    compression: bool = default("routes.*.websocket.compression")
    max_pings: int = default("routes.*.websocket.max_pings")


@dataclass(frozen=True, slots=True)
class Route:
    """Operations as written, and where they go: by model, to fixed targets, or answered here."""

    operations: tuple[tuple[str, Path], ...]
    model: str
    default_model: str
    also: tuple[str, ...]
    to: tuple[Target, ...]
    answer: str
    public: bool
    validate: str
    policies: tuple[Policy, ...]
    at: Path
    unknown_fields: str = default("routes.*.unknown_fields")
    validate_responses: str = default("routes.*.validate_responses")
    websocket: WebSocket | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """Names of entries, by section, that were left out because of a breach; "*" means all."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, section: str, name: str) -> bool:
        """Whether this entry may exist after all."""
        return bool(self.names.get(section, frozenset()) & {name, "*"})


@dataclass(frozen=True, slots=True)
class Config:
    """All of gateway.yaml. `tokens` are callers by the digest of their secret. Pages of `origins`
    may call the API from a browser; "*" is any.

    `broken` entries were left out; a config that has some is never served.
    """

    source: Source
    folder: FilePath
    server: Server
    specs: Mapping[str, Spec]
    upstreams: Mapping[str, Upstream]
    models: Mapping[str, Model]
    policies: tuple[Policy, ...]
    routes: tuple[Route, ...]
    tokens: Mapping[str, Caller]
    broken: Broken = field(default_factory=Broken)
    stores: Stores = field(default_factory=Stores)
    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = default("currency")
    console: Console = field(default_factory=Console)
    origins: tuple[str, ...] = ()
    telemetry: Telemetry = field(default_factory=Telemetry)
