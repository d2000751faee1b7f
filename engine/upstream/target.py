"""A target: an upstream with everything compiled that sending to it needs."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from engine.config import model
from engine.relay.headers import Forwarded
from engine.spec.query import Query
from engine.upstream.client import Client, Timeouts


@dataclass(frozen=True, slots=True)
class Upstream:
    """A named server: its client, what it is shown, which request headers pass to it."""

    name: str
    dialect: str
    client: Client
    credential: model.Credential | None
    forward_headers: tuple[str, ...]

    def headers(self, dialect_headers: tuple[str, ...], needed: tuple[str, ...] = ()) -> Forwarded:
        """The request headers that pass to it from a route of a dialect; `needed` ones always."""
        return Forwarded((*dialect_headers, *self.forward_headers), needed)

    def query(self, raw: str) -> str:
        """The query string with our credential, where it travels there."""
        if self.credential is None or self.credential.kind != "query":
            return raw
        name = self.credential.name
        rest = Query.parse(raw).without({name}) if raw else ""
        pair = f"{quote(name, safe='')}={quote(self.credential.value, safe='')}"
        return f"{rest}&{pair}" if rest else pair

    def betrays(self, value: str) -> bool:
        """Whether a response header's value repeats our credential, as redirects do."""
        secret = self.credential.value if self.credential is not None else ""
        secret = secret.removeprefix("Bearer ")
        return len(secret) > 3 and (secret in value or quote(secret, safe="") in value)


@dataclass(frozen=True, slots=True)
class Target:
    """An upstream, the model's name there ("" means: as asked for), and its share."""

    upstream: Upstream
    model: str
    weight: float


def connect(config: model.Upstream) -> Upstream:
    """Make an upstream's client. Its sockets open on first use."""
    tls = config.tls
    client = Client(
        config.url,
        timeouts=Timeouts(**config.timeouts),
        pool_size=config.pool,
        ca=tls.ca,
        cert=(tls.certificate, tls.key or tls.certificate) if tls.certificate else None,
        verify=tls.verify,
        proxy=config.proxy,
    )
    return Upstream(config.name, config.dialect, client, config.credential, config.forward_headers)
