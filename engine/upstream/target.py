"""A target: an upstream with everything compiled and remembered that sending to it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from engine import dialects
from engine.config import model
from engine.dialects import Dialect
from engine.relay.headers import Forwarded
from engine.relay.response_headers import ResponseHeaders
from engine.upstream.breaker import Breaker
from engine.upstream.client.client import Client, Timeouts
from engine.upstream.credentials import Credentials
from engine.upstream.location_headers import UpstreamUrl
from engine.upstream.retry import Budget
from engine.values.redaction import Redaction, is_secret_name


@dataclass(slots=True)
class Upstream:
    """A named server in one worker: its client, its credentials, its patience with failures."""

    name: str
    dialect: str
    client: Client
    timeouts: Timeouts
    credentials: Credentials
    retry: model.Retry
    budget: Budget
    breaker: model.Breaker
    heartbeat: float | None
    changes: model.HeaderChanges
    forward_headers: tuple[str, ...]
    ask_usage: bool = True
    url: str = ""
    redaction: Redaction = field(default_factory=lambda: Redaction(()))
    breakers: dict[tuple[str, str], Breaker] = field(default_factory=dict)

    def headers(self, dialect_headers: tuple[str, ...], needed: tuple[str, ...] = ()) -> Forwarded:
        """The request headers that pass to it from a route of a dialect; `needed` ones always."""
        return Forwarded((*dialect_headers, *self.forward_headers), needed)

    def response_headers(self, dialect: Dialect, declared: Sequence[str] = ()) -> ResponseHeaders:
        """The rules for the headers of its answers on a route of a dialect; `declared` are those of
        the operation's document. They are as strict as either of the two dialects asks for."""
        speaks = dialect
        if dialect.transparent and self.dialect in dialects.names():
            speaks = dialects.get(self.dialect)
        return ResponseHeaders(
            UpstreamUrl(self.url),
            allowed=None if speaks.transparent else speaks.response_headers,
            hidden=speaks.hidden_headers,
            declared=declared,
        )

    def target(self, model: str, weight: float, wanted: str = "", entry: str = "") -> Target:
        """A target here, of an `entry` under `models` that says it is `wanted` as a model there;
        those of one entry share their breaker."""
        made = Breaker(self.breaker.failures, self.breaker.window, self.breaker.cooldown)
        served = "" if "*" in entry else entry
        breaker = self.breakers.setdefault((entry, wanted), made)
        return Target(self, model, weight, breaker, served, entry)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """An upstream, the model's name there ("" means: as asked for), its share, its breaker.

    `served` is the name of the model it serves as callers know it, "" for a wildcard's; `entry`
    is what stands under `models`.
    """

    upstream: Upstream
    model: str
    weight: float
    breaker: Breaker
    served: str = ""
    entry: str = ""

    @property
    def name(self) -> str:
        """How people call it: `upstream/model`, or the upstream alone."""
        return f"{self.upstream.name}/{self.model}" if self.model else self.upstream.name


def connect(config: model.Upstream, client: Callable[..., Client] = Client) -> Upstream:
    """Make an upstream's client, a `client`. Its sockets open on first use."""
    tls = config.tls
    timeouts = Timeouts(**config.timeouts)
    made = client(
        config.url,
        timeouts=timeouts,
        pool_size=config.pool,
        ca=tls.ca,
        cert=(tls.certificate, tls.key or tls.certificate) if tls.certificate else None,
        verify=tls.verify,
        proxy=config.proxy,
    )
    return Upstream(
        name=config.name,
        dialect=config.dialect,
        client=made,
        timeouts=timeouts,
        credentials=Credentials(config.credentials),
        retry=config.retry,
        budget=Budget(config.retry.budget),
        breaker=config.breaker,
        heartbeat=config.heartbeat,
        changes=config.headers,
        forward_headers=config.forward_headers,
        ask_usage=config.ask_usage,
        url=config.url,
        redaction=Redaction(_secrets(config, made)),
    )


def _secrets(config: model.Upstream, client: Client) -> Iterator[str]:
    """What an upstream, or the proxy before it, is shown and nobody else may see."""
    yield from (credential.value for credential in config.credentials)
    for name, value in (*config.headers.set.items(), *config.headers.add.items()):
        if is_secret_name(name):
            yield value
    if client.proxy_authorization:
        yield client.proxy_authorization
