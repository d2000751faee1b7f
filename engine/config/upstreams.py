"""`upstreams:` of gateway.yaml: credentials, timeouts, retries, breakers, headers, TLS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine import credentials
from engine.config import keys, provider_defaults
from engine.config.health import (
    EjectionConfig,
    ProbeConfig,
    RateLimitsConfig,
    read_ejection,
    read_probes,
)
from engine.config.keys import default
from engine.config.tls import tls_files
from engine.config.transforms import TransformConfig, read_transform
from engine.credentials import Credential
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument

_RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"}
)


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS to an upstream: how its certificate is verified, and the client certificate. Files are
    absolute paths."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = default("upstreams.*.tls.verify")


@dataclass(frozen=True, slots=True)
class Retry:
    """Retries at an upstream: `attempts` in all, `on` these classes of failures, at most a share of
    `budget` of the requests; `max_wait` is the longest `Retry-After` in seconds."""

    attempts: int = default("upstreams.*.retry.attempts")
    on: frozenset[str] = frozenset(default("upstreams.*.retry.on"))
    budget: float = default("upstreams.*.retry.budget")
    max_wait: float = default("upstreams.*.retry.max_wait")


@dataclass(frozen=True, slots=True)
class BreakerConfig:
    """A circuit breaker: `failures` within `window` seconds open it for `cooldown` seconds."""

    failures: int = default("upstreams.*.breaker.failures")
    window: float = default("upstreams.*.breaker.window")
    cooldown: float = default("upstreams.*.breaker.cooldown")


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """Where requests wait for a place: `size` at one time, each at most `wait` seconds."""

    size: int = default("upstreams.*.queue.size")
    wait: float = default("upstreams.*.queue.wait")


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """Idle connections of a worker: at most `size`, none idle for longer than `idle` seconds or
    used when older than `age`."""

    size: int = default("upstreams.*.pool.size")
    idle: float = default("upstreams.*.pool.idle")
    age: float = default("upstreams.*.pool.age")


@dataclass(frozen=True, slots=True)
class Resolve:
    """Where the addresses of an upstream come from: DNS (its host, or the service `srv`) or a
    `file`, an absolute path. `server` is the DNS server to ask, "" for the system's."""

    every: float = default("upstreams.*.resolve.every")
    srv: str = ""
    file: str | None = None
    server: str = ""
    max_addresses: int = default("upstreams.*.resolve.max_addresses")


@dataclass(frozen=True, slots=True)
class HeaderChanges:
    """Changes to the headers of requests to an upstream; names in lower case."""

    set: Mapping[str, str] = field(default_factory=dict)
    add: Mapping[str, str] = field(default_factory=dict)
    remove: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class UpstreamConfig:
    """A server that requests are forwarded to.

    `dialect` "" is the dialect of the routed operation. `ask_usage`: requests for streams ask for
    a report of usage. `cache_in_input`: what it counts of the input in Anthropic's format includes
    the prompt cache. `missing_paths` are ends of paths of the dialect that it does not have.
    `provider` "" is none; `variables` are all of the provider's.
    `transform` are the transforms in order: the provider's and its own.
    `max_in_flight` None is any number of requests at one time, `queue` None lets none wait.
    """

    name: str
    url: str
    dialect: str
    credentials: tuple[Credential, ...] = field(metadata={"key": "credential"})
    timeouts: Mapping[str, float]
    forward_headers: tuple[str, ...]
    pool: PoolConfig
    proxy: str | None
    tls: Tls
    at: Path
    retry: Retry = field(default_factory=Retry)
    breaker: BreakerConfig = field(default_factory=BreakerConfig)
    ejection: EjectionConfig = field(default_factory=EjectionConfig)
    health: ProbeConfig | None = None
    rate_limits: RateLimitsConfig = field(default_factory=RateLimitsConfig)
    heartbeat: float | None = None
    headers: HeaderChanges = field(default_factory=HeaderChanges)
    ask_usage: bool = default("upstreams.*.ask_usage")
    cache_in_input: bool = default("upstreams.*.cache_in_input")
    resolve: Resolve | None = None
    missing_paths: tuple[str, ...] = ()
    provider: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    transform: tuple[TransformConfig, ...] = ()
    max_in_flight: int | None = None
    queue: QueueConfig | None = None


class UpstreamReader:
    """Reads valid entries of `upstreams:`."""

    def __init__(self, source: SourceDocument, folder: FilePath, findings: Findings) -> None:
        self.source = source
        self.folder = folder
        self.findings = findings

    def read(self, name: str, section: dict[str, Any]) -> UpstreamConfig | None:
        """One upstream; the problems of its values go to the findings. None if its provider cannot
        complete it."""
        at: Path = ("upstreams", name)
        completed = provider_defaults.complete(section, at, self.source, self.findings)
        if completed is None:
            return None
        values = keys.fill(completed.section, "upstreams.*")
        return UpstreamConfig(
            name=name,
            url=values["url"].rstrip("/"),
            dialect=values.get("dialect", ""),
            credentials=self._credentials(values, completed.variables, at),
            timeouts=keys.fill(values.get("timeouts", {}), "upstreams.*.timeouts"),
            forward_headers=tuple(values.get("forward_headers", ())),
            ask_usage=values["ask_usage"],
            cache_in_input=values["cache_in_input"],
            pool=_pool(values.get("pool", {})),
            proxy=values.get("proxy"),
            tls=Tls(
                **tls_files(
                    values.get("tls", {}), (*at, "tls"), self.folder, self.source, self.findings
                )
            ),
            at=at,
            retry=_retry(values.get("retry", {})),
            breaker=BreakerConfig(**values.get("breaker", {})),
            ejection=read_ejection(values, at, self.source, self.findings),
            health=read_probes(values, at, self.source, self.findings),
            rate_limits=RateLimitsConfig(**values.get("rate_limits", {})),
            heartbeat=values.get("heartbeat") or None,
            headers=self._headers(values.get("headers", {}), (*at, "headers")),
            resolve=self._resolve(values),
            missing_paths=tuple(values.get("missing_paths", ())),
            provider=values.get("provider", ""),
            variables=completed.variables,
            transform=(
                *_provider_transform(completed.transform, at),
                *read_transform(values, at),
            ),
            max_in_flight=values.get("max_in_flight"),
            queue=QueueConfig(**values["queue"]) if "queue" in values else None,
        )

    def _credentials(
        self, section: dict[str, Any], variables: Mapping[str, str], at: Path
    ) -> tuple[Credential, ...]:
        if "credential" in section and "credentials" in section:
            message = "'credential' and 'credentials' together"
            self.findings.error(self.source, (*at, "credentials"), "MW105", message, "keep one")
        if "credential" in section:
            entries: dict[Path, Any] = {(*at, "credential"): section["credential"]}
        else:
            listed = enumerate(section.get("credentials", ()))
            entries = {(*at, "credentials", index): entry for index, entry in listed}
        url = section["url"].rstrip("/")
        read = [self._credential(entry, url, variables, at) for at, entry in entries.items()]
        return tuple(credential for credential in read if credential is not None)

    def _headers(self, section: dict[str, Any], at: Path) -> HeaderChanges:
        for kind in ("set", "add"):
            for name, value in section.get(kind, {}).items():
                if name.lower() in _RESERVED_HEADERS or not _is_header_value(value):
                    message = f"header '{name}' cannot have this value"
                    self.findings.error(self.source, (*at, kind, name), "MW105", message)
        return HeaderChanges(
            {name.lower(): value for name, value in section.get("set", {}).items()},
            {name.lower(): value for name, value in section.get("add", {}).items()},
            frozenset(name.lower() for name in section.get("remove", ())),
        )

    def _credential(
        self, section: dict[str, Any], url: str, variables: Mapping[str, str], at: Path
    ) -> Credential | None:
        def error(below: Path, message: str, hint: str = "", code: str = "MW105") -> None:
            self.findings.error(self.source, (*at, *below), code, message, hint)

        context = credentials.Context(url, self.folder, error, variables)
        return credentials.read(section, context)

    def _resolve(self, values: dict[str, Any]) -> Resolve | None:
        section = values.get("resolve")
        if section is None:
            return None
        file = section.get("file")
        return Resolve(**{**section, "file": file and str(self.folder / file)})


def _pool(section: int | dict[str, Any]) -> PoolConfig:
    return PoolConfig(section) if isinstance(section, int) else PoolConfig(**section)


def _is_header_value(value: str) -> bool:
    return value.isprintable() and value.isascii()


def _provider_transform(options: Mapping[str, Any], at: Path) -> tuple[TransformConfig, ...]:
    """The transform of the provider of the entry at `at`, if it has one."""
    return (TransformConfig(options, (*at, "provider")),) if options else ()


def _retry(section: dict[str, Any]) -> Retry:
    values = dict(section)
    if "on" in values:
        values["on"] = frozenset(str(failure) for failure in values["on"])
    return Retry(**values)
