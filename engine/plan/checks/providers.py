"""Notes about models that are not in their provider's file, and about old files of providers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from engine import dialects
from engine.config import providers
from engine.config.config import Config
from engine.config.models import STAR, TargetConfig
from engine.config.providers import MAX_AGE, Provider
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import distance, near

_MIN_LENGTH, _MAX_TYPOS = 8, 2
"""The length of a name in which so many wrong letters are a mistake, not another model."""
_MIN_FAMILY_LENGTH = 3


def today() -> date:
    """The date, in UTC."""
    return datetime.now(UTC).date()


def check_providers(config: Config, findings: Findings) -> None:
    """Note each target's model that is not in the file of its provider, with the closest name in
    it, and each upstream whose provider's file is older than MAX_AGE. The model is an info, as it
    may be newer; a warning if its name is misspelt or is that of another vendor's model."""
    used = {
        name: config.catalog.read(upstream.provider)
        for name, upstream in config.upstreams.items()
        if upstream.provider
    }
    catalogs = {name: p for name, p in used.items() if p.models and not p.own_names}
    for target, model, at in _named_models(config):
        if target.upstream in catalogs:
            _check_model(model, catalogs[target.upstream], at, config, findings)
    date_now = today()
    for name, provider in catalogs.items():
        age = (date_now - provider.date).days
        if age > MAX_AGE:
            at = ("upstreams", name, "provider")
            message = f"the models and prices of provider '{provider.name}' are {age} days old"
            hint = f"newer models and prices: {provider.documentation}; set your own under `prices`"
            findings.note(config.source, at, Level.INFO, "MW355", message, hint)


def _named_models(config: Config) -> Iterator[tuple[TargetConfig, str, Path]]:
    """The targets of `models` whose model name is in the config, with the name and its path."""
    for entry in config.models.values():
        for at, target in entry.placed_targets:
            if target.model and target.model != STAR:
                yield target, target.model, (*at, "model")
            elif "*" not in entry.name:
                yield target, entry.name, at


def _check_model(
    model: str, provider: Provider, at: Path, config: Config, findings: Findings
) -> None:
    if model in provider.models:
        return
    message = f"provider '{provider.name}' had no model '{model}' on {provider.date}"
    level, hint = Level.INFO, "if it is newer, ignore this: it is served"
    close = near(model, provider.models)
    if misspelt := _misspelt(model, provider, close):
        level, hint = Level.WARNING, f"did you mean '{misspelt}'?"
    elif others := _other_vendors(model, provider):
        used = {upstream.provider for upstream in config.upstreams.values()}
        vendors = [name for name in others if name in dialects.names()] or others
        vendor = next((name for name in others if name in used), min(vendors, key=len))
        level, hint = Level.WARNING, f"provider '{vendor}' has it; name its upstream"
    elif close:
        hint = f"did you mean '{close}'?"
    findings.note(config.source, at, level, "MW354", message, hint)


def _misspelt(model: str, provider: Provider, close: str | None) -> str:
    """The model whose name differs in letters or signs only (the `close` one), or by a prefix with
    the vendor's name; a newer model differs in its numbers. "" for none."""
    own_name = model.rpartition("/")[2]
    if own_name in provider.models:
        return own_name
    if close is None or len(close) < _MIN_LENGTH or _numbers(model) != _numbers(close):
        return ""
    return close if distance(model.casefold(), close, _MAX_TYPOS) <= _MAX_TYPOS else ""


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)


def _other_vendors(model: str, provider: Provider) -> tuple[str, ...]:
    """The providers that have a model, or another of its family, if this one has none of its
    family; none for a provider that serves the models of many vendors, unless another has the
    model."""
    family = _family(model)
    if len(family) < _MIN_FAMILY_LENGTH or any(_family(name) == family for name in provider.models):
        return ()
    is_vendor = provider.upstream.get("dialect") == provider.name
    return providers.of_model(model) or (providers.of_family(family) if is_vendor else ())


def _family(model: str) -> str:
    """The word with which the names of related models begin: `claude`."""
    match = re.match(r"[a-z]+", model.casefold())
    return match[0] if match else ""
