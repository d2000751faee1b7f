"""`upstreams:` of gateway.yaml: credentials, timeouts, retries, breakers, headers, TLS, and what
callers can choose besides the model.

The choices are those of the upstream's `provider`; without one, of the provider whose URL has the
same host; if none or several have it, also of the vendor of the dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from urllib.parse import urlsplit

from msgspec import Struct, field

from engine.config import providers
from engine.config.health import (
    EjectionConfig,
    ProbeConfig,
    RateLimitsConfig,
)
from engine.config.keys import default
from engine.config.providers import CallerChoice
from engine.config.transforms import TransformConfig
from engine.credentials import Credential
from engine.source.problem import Path
from engine.source.suggestion import did_you_mean

EVERY = "*"
"""Stands for all choices in a config."""


class Tls(Struct, frozen=True):
    """TLS to an upstream: how its certificate is verified, and the client certificate. Files are
    absolute paths."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = default("upstreams.*.tls.verify")


class Retry(Struct, frozen=True):
    """Retries at an upstream: `attempts` in all, `on` these classes of failures, for at most the
    share `budget` of requests; `max_wait` is the longest `Retry-After` to obey, in seconds."""

    attempts: int = default("upstreams.*.retry.attempts")
    on: frozenset[str] = frozenset(default("upstreams.*.retry.on"))
    budget: float = default("upstreams.*.retry.budget")
    max_wait: float = default("upstreams.*.retry.max_wait")


class BreakerConfig(Struct, frozen=True):
    """A circuit breaker: `failures` within `window` seconds open it for `cooldown` seconds."""

    failures: int = default("upstreams.*.breaker.failures")
    window: float = default("upstreams.*.breaker.window")
    cooldown: float = default("upstreams.*.breaker.cooldown")


class QueueConfig(Struct, frozen=True):
    """A queue of requests that wait for a slot: at most `size`, each at most `wait` seconds."""

    size: int = default("upstreams.*.queue.size")
    wait: float = default("upstreams.*.queue.wait")


class PoolConfig(Struct, frozen=True):
    """Idle connections of a worker: at most `size`; one is closed after `idle` seconds without use,
    and not used again after `age` seconds."""

    size: int = default("upstreams.*.pool.size")
    idle: float = default("upstreams.*.pool.idle")
    age: float = default("upstreams.*.pool.age")


class Resolve(Struct, frozen=True):
    """The source of an upstream's addresses: DNS (its host, or the service `srv`) or a `file`, an
    absolute path. `server` is the DNS server, "" for the system's."""

    every: float = default("upstreams.*.resolve.every")
    srv: str = ""
    file: str | None = None
    server: str = ""
    max_addresses: int = default("upstreams.*.resolve.max_addresses")


class HeaderChanges(Struct, frozen=True):
    """Changes to the headers of requests to an upstream; names in lower case."""

    set: Mapping[str, str] = field(default_factory=dict)
    add: Mapping[str, str] = field(default_factory=dict)
    remove: frozenset[str] = frozenset()


CALLS_AGAIN = frozenset({"connect"})
"""The failures after which a call of a tool is sent again: it was not carried out. Any other may
have had an effect."""


class UpstreamConfig(Struct, frozen=True):
    """A server to which requests are forwarded.

    `dialect` "" means the dialect of the routed operation. `ask_usage`: requests for streams ask
    for usage. `cache_in_input`: its input counts in Anthropic's format include the prompt cache.
    `responses_websocket`: it has the Responses API over a WebSocket.
    `missing_paths` are suffixes of the dialect's paths that the server does not have, with all
    paths below them.
    `regions` are those in which it may process a request, empty if the config does not say.
    `provider` is "" for none; `variables` are all of the provider's. `transform` has the provider's
    transform, then the entry's. `max_in_flight` is None for no limit, `queue` None for no queue.
    `caller_choices` are the names of what callers may choose besides the model. `mcp` is the
    URL of an MCP server, "" for another one, and `pins` the absolute path of the file of its tools.
    """

    name: str
    url: str
    dialect: str
    credentials: tuple[Credential, ...] = field(name="credential")
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
    responses_websocket: bool = default("upstreams.*.responses_websocket")
    resolve: Resolve | None = None
    missing_paths: tuple[str, ...] = ()
    provider: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    transform: tuple[TransformConfig, ...] = ()
    max_in_flight: int | None = None
    queue: QueueConfig | None = None
    caller_choices: tuple[str, ...] = ()
    mcp: str = ""
    pins: str = ""
    regions: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[CallerChoice, ...]:
        """What callers could choose besides the model, and must not."""
        choices = known_choices(self.provider, self.url, self.dialect)
        return unpermitted(choices, self.caller_choices)


@cache
def known_choices(provider: str, url: str, dialect: str) -> tuple[CallerChoice, ...]:
    """The choices that callers of an upstream are known to have, each once."""
    names = (provider,) if provider else _by_address(url, dialect)
    choices = {choice.name: choice for name in names for choice in providers.read(name).choices}
    return tuple(choices.values())


def _by_address(url: str, dialect: str) -> tuple[str, ...]:
    vendor = (dialect,) if dialect in providers.names() else ()
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # the check of addresses notes it
        host = ""
    served = providers.of_host(host)
    # at an address of several, such as this machine's, may also be a proxy of the vendor
    return served if len(served) == 1 else tuple(dict.fromkeys((*served, *vendor)))


def unpermitted(
    choices: Sequence[CallerChoice], permitted: Sequence[str]
) -> tuple[CallerChoice, ...]:
    """The choices that a config does not permit by their names."""
    if EVERY in permitted:
        return ()
    return tuple(choice for choice in choices if choice.name not in permitted)


def unknown_choices(
    permitted: Sequence[str], choices: Sequence[CallerChoice]
) -> Iterator[tuple[int, str, str]]:
    """The index of each name in a config that no choice has, with a message and a hint."""
    names = [choice.name for choice in choices]
    otherwise = f"it has {', '.join(names)}" if names else "remove it: they can choose nothing here"
    for index, name in enumerate(permitted):
        if name not in (EVERY, *names):
            message = f"callers of this upstream have no choice '{name}'"
            yield index, message, did_you_mean(name, names, otherwise)
