"""Models of Kong's `ai-proxy` and `ai-proxy-advanced`: targets, their parameters and prices, and
the settings of the plugin that hold for all of its targets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.offline.imports.chat_parameters import PLACES, fits, number_of
from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.offline.imports.sources.kong.entities import Plugin, listed, mapping
from engine.offline.imports.sources.kong.upstreams import Upstream, filled, provider_of
from engine.source.problem import Path
from engine.values.trees import Json, Section

NO_COUNTERPART = "there is no counterpart"
_READ = frozenset({"model", "auth", "route_type", "weight", "logging", "description"})
_PRICES = {"input_cost": "input", "output_cost": "output"}
_ROUTE_TYPES = frozenset(
    {"llm/v1/chat", "llm/v1/completions", "llm/v1/embeddings", "llm/v1/responses"}
    | {"audio/v1/audio/speech", "audio/v1/audio/transcriptions", "realtime/v1/realtime"}
    | {"image/v1/images/generations", "image/v1/images/edits"}
)
"""Types of routes whose operations every model has, if its provider serves them."""
_SILENT = frozenset(
    {"response_streaming", "llm_format", "genai_category", "model_name_header"}
    | {"max_request_body_size"}
)
"""Settings without an effect here, or whose other values are noted."""
_CHOICES = {
    "round-robin": "weighted",
    "least-connections": "least_busy",
    "lowest-latency": "fastest",
}
_TIMEOUTS = {"connect_timeout": "connect", "read_timeout": "idle"}


class Target(NamedTuple):
    """A target that is imported: the model that callers ask for, its options and their place."""

    model: str
    options: Section
    at: Path


def read_models(
    draft: ImportedConfig, plugin: Plugin, carried: frozenset[str] = frozenset()
) -> list[str]:
    """Add the models of an AI plugin to the draft. Returns their names. `carried` are settings that
    have become policies."""
    at: Path = (*plugin.at, "config")
    several = [*listed(plugin.config, "targets", at)]
    settings = _settings(draft, plugin, at)
    targets = [
        target
        for value, place in several or [(plugin.config, at)]
        if (target := _read_target(draft, value, place, settings)) is not None
    ]
    names = [*dict.fromkeys(target.model for target in targets)]
    if len(names) > 1 and not any("model_alias" in mapping(t.get("model")) for t, _ in several):
        reason = f"callers choose one of {', '.join(names)} by name; give them one model_alias"
        draft.skip((*at, "targets"), reason, "load balancing of models")
    choice = _choice(draft, plugin, at) if names else None
    for name in names:
        _edit(draft, name, [target for target in targets if target.model == name])
        if choice and len(draft.models[name].value["to"]) > 1:
            draft.models[name].value["choose"] = choice
    imported = {"targets", "balancer", *carried, *(() if several else _READ)}
    for key, value in plugin.config.items():
        if key not in imported:
            _note_setting(draft, key, value, (*at, key), names)
    return names


def _read_target(
    draft: ImportedConfig, target: Mapping[str, object], at: Path, settings: Mapping[str, object]
) -> Target | None:
    """The target, or None if it is not imported."""
    model = mapping(target.get("model"))
    name, provider = model.get("name"), provider_of(model)
    if not provider or not isinstance(name, str):
        vendor = model.get("provider")
        reason = f"no provider of Modelway is known for '{vendor}', or it names no model"
        draft.skip((*at, "model"), reason, "a model")
        return None
    upstream = Upstream(draft, provider, target, at)
    try:
        entry = {**upstream.entry(), **settings}
    except ValueError as error:
        draft.skip((*at, "model"), str(error), name)
        return None
    options = mapping(model.get("options"))
    _note_options(draft, options, (*at, "model", "options"), upstream.imported)
    _note_target(draft, target, at)
    line = draft.line((*at, "model"))
    served = filled(options.get("azure_deployment_id", name))
    to: Json = {
        "upstream": draft.named(draft.upstreams, provider, entry, line),
        "model": served,
    }
    weight = target.get("weight")
    if isinstance(weight, int) and weight > 0:
        to["weight"] = weight
    requested = str(model.get("model_alias", name))
    requested = re.sub(r"[^\w./:*@-]+", "-", requested).strip("-") or "model"
    served_model = draft.models.setdefault(requested, Entry({"to": []}, []))
    served_model.value["to"].append(to)
    served_model.lines.append(line)
    prices = {_PRICES[k]: number_of(options.get(k)) for k in _PRICES}
    if price := {key: value for key, value in prices.items() if value is not None}:
        draft.prices[requested] = Entry(price, [line])
    return Target(requested, options, (*at, "model", "options"))


def _note_options(
    draft: ImportedConfig, options: Mapping[str, object], at: Path, imported: set[tuple[str, ...]]
) -> None:
    for key, value in options.items():
        if value is None or key in PLACES or key in _PRICES or (key,) in imported:
            continue
        for part in mapping(value) or ("",):
            place = (key, part) if part else (key,)
            if place not in imported and (not part or mapping(value)[part] is not None):
                draft.skip((*at, *place), NO_COUNTERPART, " ".join(place))


def _note_target(draft: ImportedConfig, target: Mapping[str, object], at: Path) -> None:
    route_type = target.get("route_type")
    if route_type is not None and route_type not in _ROUTE_TYPES:
        reason = "callers use the operations of the documents"
        draft.skip((*at, "route_type"), reason, f"route_type {route_type}")
    if mapping(target.get("logging")).get("log_payloads") is True:
        draft.skip((*at, "logging", "log_payloads"), "bodies are not logged; the ledger has usage")
    for key in target if "targets" in at else ():
        if key not in _READ:
            draft.skip((*at, key), NO_COUNTERPART)


def _edit(draft: ImportedConfig, name: str, targets: Sequence[Target]) -> None:
    """Set the parameters that all targets of a model share: Kong's replace those of requests."""
    values: Json = {}
    for key, places in PLACES.items():
        numbers = [number_of(target.options.get(key)) for target in targets]
        configured = [target for target in targets if target.options.get(key) is not None]
        if not configured:
            continue
        reason = "the targets of a model have different values"
        if all(number == numbers[0] for number in numbers):
            if fits(key, numbers[0]):
                values |= dict.fromkeys(places, numbers[0])
                continue
            reason = "not every format of chat takes this value"
        for target in configured:
            draft.skip((*target.at, key), reason)
    if values:
        body: Json = {"set": values}
        if "max_tokens" in values:
            body["remove"] = ["max_completion_tokens"]  # the same limit by another name
        draft.models[name].value["transform"] = {"request": {"body": body}}


def _settings(draft: ImportedConfig, plugin: Plugin, at: Path) -> Json:
    """Retries and timeouts of the balancer, as settings of each upstream."""
    balancer = mapping(plugin.config.get("balancer"))
    settings: Json = {}
    timeouts = {
        name: f"{balancer[key]}ms"
        for key, name in _TIMEOUTS.items()
        if isinstance(balancer.get(key), int) and balancer[key] > 0
    }
    if timeouts:
        settings["timeouts"] = timeouts
    retries = balancer.get("retries")
    if isinstance(retries, int):
        settings["retry"] = {"attempts": max(1, min(retries + 1, 10))}
    for key, value in balancer.items():
        if key not in {*_TIMEOUTS, "retries", "algorithm", "hash_on_header"} and value is not None:
            draft.skip((*at, "balancer", key), NO_COUNTERPART)
    return settings


def _choice(draft: ImportedConfig, plugin: Plugin, at: Path) -> Any:
    """The value of `choose` for the algorithm of the balancer; None for the default."""
    balancer = mapping(plugin.config.get("balancer"))
    algorithm = str(balancer.get("algorithm", "round-robin"))
    if algorithm == "consistent-hashing":
        header = str(balancer.get("hash_on_header", "X-Kong-LLM-Request-ID")).lower()
        return {"affinity": f"$request.header.{header}"}
    if algorithm not in _CHOICES:
        reason = "targets are chosen by weight, without those that fail"
        draft.skip((*at, "balancer", "algorithm"), reason, f"algorithm {algorithm}")
        return None
    choice = _CHOICES[algorithm]
    return None if choice == "weighted" else choice


def _note_setting(
    draft: ImportedConfig, key: str, value: object, at: Path, names: Sequence[str]
) -> None:
    """Carry a setting of the plugin, or note it."""
    warning = f"WARNING, models without this guard: {', '.join(names)}: "
    if key == "response_streaming" and value == "deny":
        draft.skip(at, f"{warning}write a deny of /stream under policies", f"{key} deny")
    elif key == "response_streaming" and value == "always":
        draft.skip(at, "callers choose whether a response is streamed", f"{key} always")
    elif key == "max_request_body_size" and value:
        draft.skip(at, f"{warning}write max_body: {value}B under policies")
    elif key == "llm_format" and value not in (None, "openai", "anthropic", "gemini"):
        draft.skip(at, "callers use the formats of the documents", f"{key} {value}")
    elif key == "model_name_header" and value:
        draft.skip(at, "the access log and the ledger name the model, no header does")
    elif key not in _SILENT and value is not None:
        draft.skip(at, NO_COUNTERPART)
