"""`providers.catalog` of gateway.yaml: models and prices of providers that are newer than the
shipped ones.

The law: of a provider that the catalog has, its date is that of the catalog. A model has the keys
that the catalog gives it, its price as a whole, and the shipped ones for the rest; `null` takes
a model out. What operators write under `prices` comes before both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path as FilePath

from msgspec.structs import replace

from engine.config import providers
from engine.config.providers import Provider, ProviderModel, Source
from engine.config.schema_check import Validator, check
from engine.source import files
from engine.source.problem import Findings, Level
from engine.source.reader import SourceDocument, read_file
from engine.source.suggestion import did_you_mean
from engine.values.price import Price, price_of
from engine.values.trees import Json, Section

KEYS = ("date", "models", "batch", "sources")
"""The keys of a provider's file that a catalog may have."""
_FILE = files.HOME / "schemas" / "provider.schema.json"


class Catalog:
    """The facts about providers: the shipped ones, changed by `entries` of a catalog, by provider.
    `source` is the catalog's file, None without one."""

    def __init__(
        self, entries: Section | None = None, source: SourceDocument | None = None
    ) -> None:
        self.entries = entries or {}
        self.source = source
        self._merged: dict[str, Provider] = {}
        self._prices: dict[str, Mapping[str, Price]] = {}

    def read(self, name: str) -> Provider:
        """The provider of that name, one of `providers.names()`."""
        if name not in self.entries:
            return providers.read(name)
        if name not in self._merged:
            self._merged[name] = _merged(providers.read(name), self.entries[name])
        return self._merged[name]

    def prices(self, name: str) -> Mapping[str, Price]:
        """The prices of the models of a provider, by its name for them."""
        if name not in self._prices:
            provider = self.read(name)
            source = f"{name} {provider.date}"
            models = {n: model.price for n, model in provider.models.items() if model.price}
            prices = {n: price_of(price, source, provider.batch) for n, price in models.items()}
            self._prices[name] = prices
        return self._prices[name]


SHIPPED = Catalog()
"""Without a catalog."""


def read_catalog(
    section: Json, folder: FilePath, source: SourceDocument, findings: Findings
) -> Catalog:
    """The catalog that `providers:` names; problems of the file go to the findings."""
    if "catalog" not in section:
        return SHIPPED
    name = section["catalog"]
    if not files.is_file(folder / name):
        message, hint = f"there is no file '{name}'", "check the path: it begins at this file"
        findings.error(source, ("providers", "catalog"), "MW106", message, hint)
        return SHIPPED
    return read_catalog_file(folder / name, name, findings)


def read_catalog_file(path: FilePath, name: str, findings: Findings) -> Catalog:
    """The catalog in a file, whose name in problems is `name`. Of a file with errors, nothing
    is used."""
    source = read_file(path, name)
    findings.add_source(source)
    if source.problems:
        return Catalog(source=source)
    value = source.value or {}
    if check(value, _validator(), source, (), findings) or not isinstance(value, dict):
        return Catalog(source=source)
    _check_providers(value, source, findings)
    return Catalog({n: e for n, e in value.items() if n in providers.names()}, source)


def _check_providers(entries: Json, source: SourceDocument, findings: Findings) -> None:
    """Note providers that are not known, or of which the shipped facts are newer."""
    for name, entry in entries.items():
        if name not in providers.names():
            hint = did_you_mean(name, providers.names(), "`modelway providers` lists them")
            message = f"unknown provider '{name}'"
            findings.error(source, (name,), "MW562", message, hint, key=True)
        elif (shipped := providers.read(name).date) > date.fromisoformat(entry["date"]):
            message = f"the shipped models and prices of '{name}' are newer: {shipped}"
            hint = "remove it from the catalog, or update it: modelway providers update FILE"
            findings.note(source, (name, "date"), Level.WARNING, "MW563", message, hint)


def with_newer(entries: Section, newer: Section) -> Json:
    """The entries of a catalog with those of a newer one, whose keys and models replace others."""
    result = dict(entries)
    for name, entry in newer.items():
        present = entries.get(name, {})
        models = {**present.get("models", {}), **entry.get("models", {})}
        result[name] = {**present, **entry, "models": models}
    return result


@cache
def _validator() -> Validator:
    """The validator of a catalog: some keys of a provider's file, by provider."""
    document = json.loads(_FILE.read_text("utf-8"))
    gateway = json.loads(files.SCHEMA.read_text("utf-8"))
    model = document["$defs"]["model"]
    model["properties"]["price"] = {"$ref": "#/$defs/price"}
    properties = {key: document["properties"][key] for key in KEYS}
    removal = {"type": "null", "description": "The model is taken out."}
    properties["models"]["additionalProperties"] = {"anyOf": [{"$ref": "#/$defs/model"}, removal]}
    entry = {"type": "object", "additionalProperties": False, "required": ["date"]}
    return Validator(
        {
            "description": "A catalog: providers by name.",
            "type": "object",
            "additionalProperties": {**entry, "properties": properties},
            "$defs": {"model": model, "price": gateway["$defs"]["price"], "reference": {}},
        }
    )


def _merged(provider: Provider, entry: Section) -> Provider:
    models = dict(provider.models)
    for name, values in entry.get("models", {}).items():
        if values is None:
            models.pop(name, None)
        else:
            models[name] = _model(models.get(name), name, values)
    sources = tuple(Source(**source) for source in entry.get("sources", ()))
    return replace(
        provider,
        date=date.fromisoformat(entry["date"]),
        models=models,
        sources=sources or provider.sources,
        batch=entry.get("batch", {}).get("share", provider.batch),
    )


def _model(shipped: ProviderModel | None, name: str, values: Mapping[str, object]) -> ProviderModel:
    changes = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return replace(shipped or ProviderModel(name), **changes)
