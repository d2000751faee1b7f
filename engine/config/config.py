"""All of gateway.yaml as one value; the type of each section is in the module of its name.

Durations are in seconds, sizes in bytes; `at` is the path of an entry. Defaults come from the
schema (`keys.py`). A field whose name differs from its key has the key, relative to the section, in
its metadata as `key`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath

from msgspec import Struct, field

from engine.config.callers import JwtIssuer
from engine.config.catalog_updates import SHIPPED, Catalog
from engine.config.client_secrets import ClientSecrets
from engine.config.console import Console
from engine.config.keys import default
from engine.config.mcp import McpServer
from engine.config.models import Model
from engine.config.objects import Objects
from engine.config.routes import Policy, RouteConfig
from engine.config.server import Server
from engine.config.specs import Spec
from engine.config.stores import Stores
from engine.config.tags import Tag
from engine.config.teams import NO_TEAMS, Teams
from engine.config.telemetry import Telemetry
from engine.config.upstreams import UpstreamConfig
from engine.config.webhooks import Webhook
from engine.source.problem import Path
from engine.source.reader import SourceDocument
from engine.values.caller import Caller
from engine.values.price import Price
from engine.values.price_list import TeamPriceList
from engine.values.quota import TOKEN_FIELDS


class InvalidEntries(Struct, frozen=True):
    """Names of the invalid entries that the Config leaves out, by section; "*" means all."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, section: str, name: str) -> bool:
        """Whether the file has an invalid entry that may have this name."""
        return bool(self.names.get(section, frozenset()) & {name, "*"})

    def with_names(self, section: str, names: Iterable[str]) -> InvalidEntries:
        """These entries and more of a section."""
        merged = self.names.get(section, frozenset()).union(names)
        return InvalidEntries({**self.names, section: merged})


class Config(Struct, frozen=True):
    """All of gateway.yaml, changed by `overlays`. `tokens` are callers by the digest of their
    secret. `origins` may call the API from a browser (CORS); "*" is any.

    A config with `invalid` entries is never served.
    """

    source: SourceDocument
    folder: FilePath
    server: Server
    specs: Mapping[str, Spec]
    upstreams: Mapping[str, UpstreamConfig]
    models: Mapping[str, Model]
    policies: tuple[Policy, ...]
    routes: tuple[RouteConfig, ...]
    tokens: Mapping[str, Caller]
    teams: Teams = NO_TEAMS
    jwt: tuple[JwtIssuer, ...] = field(default=(), name="callers.jwt")
    invalid: InvalidEntries = field(default_factory=InvalidEntries)
    stores: Stores = field(default_factory=Stores)
    prices: Mapping[str, Price] = field(default_factory=dict)
    team_prices: Mapping[str, TeamPriceList] = field(default_factory=dict, name="teams.*.prices")
    currency: str = default("currency")
    console: Console = field(default_factory=Console)
    origins: tuple[str, ...] = field(default=(), name="cors.origins")
    telemetry: Telemetry = field(default_factory=Telemetry)
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    client_secrets: ClientSecrets = field(default_factory=ClientSecrets)
    overlays: tuple[FilePath, ...] = ()
    objects: Objects = field(default_factory=Objects)
    webhooks: Mapping[str, Webhook] = field(default_factory=dict)
    tags: tuple[Tag, ...] = ()
    catalog: Catalog = field(default=SHIPPED, name="providers")

    def callers(self) -> Iterator[tuple[Caller, Path]]:
        """The callers of tokens, and for each issuer of others what its bearers may do, with the
        places of their entries."""
        for index, caller in enumerate(self.tokens.values()):
            yield caller, ("tokens", index)
        for issuer in self.jwt:
            yield issuer.rights, issuer.at

    @property
    def requires_regions(self) -> bool:
        """Whether a token or a team requires a region; tokens in a database may name a team."""
        teams = self.teams.by_name.values()
        required = [team.regions for team in teams] + [c.regions for c in self.tokens.values()]
        return any(regions is not None for regions in required)

    @property
    def limits_callers(self) -> bool:
        """Whether a caller of this file has limits of its own, or may have by a claim or a team."""
        by_claim = any(issuer.claims.keys() & TOKEN_FIELDS for issuer in self.jwt)
        limits = [caller.limits for caller, _ in self.callers()]
        limits += [team.limits for team in self.teams.by_name.values()]
        return by_claim or any(limits)

    @property
    def needs_recorder(self) -> bool:
        """Whether there is work for a process beside the workers."""
        return self.stores.records is not None or bool(self.webhooks)
