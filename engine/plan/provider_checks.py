"""Notes about models that are not in their provider's file, and about old files of providers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

from engine.config import providers
from engine.config.config import Config
from engine.config.models import STAR, TargetConfig, target_paths
from engine.config.providers import Provider
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import near

OLD = 90
"""Days after which prices and models of a provider are old."""


def today() -> date:
    """The date, in UTC."""
    return datetime.now(UTC).date()


def check_providers(config: Config, findings: Findings) -> None:
    """Note, as infos, each target's model that is not in the file of its provider, with the closest
    name in it, and each upstream whose provider's file is more than OLD days old."""
    used = {
        name: providers.read(upstream.provider)
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
        if age > OLD:
            at = ("upstreams", name, "provider")
            message = f"the models and prices of provider '{provider.name}' are {age} days old"
            hint = f"newer models and prices: {provider.documentation}; set your own under `prices`"
            findings.note(config.source, at, Level.INFO, "MW355", message, hint)


def _named_models(config: Config) -> Iterator[tuple[TargetConfig, str, Path]]:
    """The targets of `models` whose model name is in the config, with the name and its path."""
    for entry in config.models.values():
        for at, target in target_paths(entry.at, entry.to):
            if target.model and target.model != STAR:
                yield target, target.model, (*at, "model")
            elif "*" not in entry.name:
                yield target, entry.name, at


def _check_model(
    model: str, provider: Provider, at: Path, config: Config, findings: Findings
) -> None:
    if model in provider.models:
        return
    close = near(model, provider.models)
    message = f"provider '{provider.name}' had no model '{model}' on {provider.date}"
    hint = f"did you mean '{close}'?" if close else "if it is newer, ignore this: it is served"
    findings.note(config.source, at, Level.INFO, "MW354", message, hint)
