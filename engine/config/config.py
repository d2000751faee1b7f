"""All of gateway.yaml as one value; the type of each section stands in the module of its name.

Durations are in seconds, sizes in bytes; `at` is the place of an entry. Defaults are those of the
schema (`keys.py`). Where a key has another name than its field, the field's metadata says it:
`key`, from the section.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from engine.config.console import Console
from engine.config.keys import default
from engine.config.models import Model
from engine.config.routes import Policy, RouteConfig
from engine.config.server import Server
from engine.config.specs import Spec
from engine.config.stores import Stores
from engine.config.telemetry import Telemetry
from engine.config.upstreams import UpstreamConfig
from engine.source.reader import SourceDocument
from engine.values.caller import Caller
from engine.values.price import Price


@dataclass(frozen=True, slots=True)
class Broken:
    """Names of invalid entries, by section, that the Config leaves out; "*" means all."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, section: str, name: str) -> bool:
        """Whether this entry may stand in the file."""
        return bool(self.names.get(section, frozenset()) & {name, "*"})

    def with_names(self, section: str, names: Iterable[str]) -> Broken:
        """These, and more names of a section."""
        return Broken({**self.names, section: self.names.get(section, frozenset()).union(names)})


@dataclass(frozen=True, slots=True)
class Config:
    """All of gateway.yaml, changed by `overlays`. `tokens` are callers by the digest of their
    secret. Pages of `origins` may call the API from a browser; "*" is any.

    A config with `broken` entries is never served.
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
    broken: Broken = field(default_factory=Broken)
    stores: Stores = field(default_factory=Stores)
    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = default("currency")
    console: Console = field(default_factory=Console)
    origins: tuple[str, ...] = field(default=(), metadata={"key": "cors.origins"})
    telemetry: Telemetry = field(default_factory=Telemetry)
    overlays: tuple[FilePath, ...] = ()
