"""LiteLLM's config.yaml: `model_list`, fallbacks, aliases, prices, timeouts, retries and budgets.

https://docs.litellm.ai/docs/proxy/config_settings
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.config import providers
from engine.config.guessable_secrets import guess
from engine.offline.imports.chat_parameters import PLACES, fits, number_of
from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.offline.imports.sources.interface import Importer
from engine.offline.imports.sources.litellm.deployment import Deployment
from engine.offline.imports.sources.litellm.vocabulary import (
    HARMLESS,
    STRATEGIES,
    reason_for,
)
from engine.source.problem import Path
from engine.values.caller import digest
from engine.values.trees import Json, Section

_NEW_ONE = "`modelway token new NAME` makes one"
SYNONYMS: Mapping[str, list[str]] = {"max_tokens": ["max_completion_tokens"]}
"""Members that a request may have in place of another: then the default does not apply."""


def _read(draft: ImportedConfig) -> None:
    """Fill the draft from the sections of the file."""
    _Reader(draft).run()


class _Reader:
    def __init__(self, draft: ImportedConfig) -> None:
        self.draft = draft
        self.value: Section = draft.source.value
        self.general = self._section("general_settings")
        self.settings = self._section("litellm_settings")
        self.router = self._section("router_settings")
        self.defaults: dict[str, list[tuple[Mapping[str, object], Path]]] = {}

    def run(self) -> None:
        models = self.value.get("model_list")
        self.draft.secrets |= dict.fromkeys(self._environment(), "")
        for index, entry in enumerate(models if isinstance(models, list) else ()):
            if isinstance(entry, dict):
                self._model(entry, ("model_list", index))
        for model in self.draft.models.values():
            if len(model.value["to"]) == 1:
                model.value["to"][0].pop("weight", None)
        read_defaults(self.draft, self.defaults)
        self._strategy()
        self._aliases()
        self._fallbacks()
        self._policies()
        self._token()
        sections = ("model_list", "general_settings", "litellm_settings", "router_settings")
        for section in self.value:
            if section not in sections:
                self.draft.skip((section,), reason_for(section))

    def _section(self, name: str) -> Mapping[str, object]:
        section = self.value.get(name)
        return section if isinstance(section, dict) else {}

    def _environment(self) -> Iterator[str]:
        """The variables that the file reads, also those that LiteLLM reads for a missing key."""
        yield from re.findall(r"os\.environ/(\w+)", self.draft.source.text)
        models = self.value.get("model_list")
        for entry in models if isinstance(models, list) else ():
            parameters = entry.get("litellm_params") if isinstance(entry, dict) else None
            if isinstance(parameters, dict) and not parameters.get("api_key"):
                deployment = Deployment(self.draft, parameters, (), ())
                provider, _ = deployment.provider_and_model(str(parameters.get("model")), "")
                credential = providers.read(provider).credential if provider else None
                yield from (str(value) for value in (credential or {}).values())

    def _model(self, entry: Mapping[str, object], at: Path) -> None:
        """A deployment: a target of a model, and its upstream."""
        parameters, info = entry.get("litellm_params"), entry.get("model_info")
        parameters = parameters if isinstance(parameters, dict) else {}
        info = info if isinstance(info, dict) else {}
        name, model = entry.get("model_name"), parameters.get("model")
        if not isinstance(name, str) or not isinstance(model, str):
            self.draft.skip(at, "it has no model_name and model", "a model")
            return
        at_parameters: Path = (*at, "litellm_params")
        deployment = Deployment(self.draft, parameters, at_parameters, (self.router, self.settings))
        provider, model = deployment.provider_and_model(model, str(info.get("mode", "")))
        if provider == "":
            reason = f"no provider of Modelway is known for '{parameters['model']}'"
            if "/" in str(parameters["model"]):
                reason += "; if it speaks OpenAI's API, write an upstream with its url and dialect"
            self.draft.skip((*at_parameters, "model"), reason, name)
            return
        try:
            target = deployment.target(provider, name, model)
        except ValueError as error:
            self.draft.skip((*at_parameters, "model"), str(error), name)
            return
        line = self.draft.line((*at, "model_name"))
        draft_model = self.draft.models.setdefault(name, Entry({"to": []}, []))
        draft_model.value["to"].append(target)
        draft_model.lines.append(line)
        if self.settings.get("drop_params") is True or parameters.get("drop_params") is True:
            draft_model.value["translate"] = "lossy"
        self._price(name, {**info, **parameters}, line)
        if str(info.get("mode", "chat")) in ("chat", "responses", "completion"):
            self.defaults.setdefault(name, []).append((parameters, at_parameters))
            deployment.imported |= set(PLACES)
        deployment.note_rest()
        for key in info:
            if key not in HARMLESS and not key.startswith(("supports_", "max_", "input_cost")):
                self.draft.skip((*at, "model_info", key), reason_for(key, name))

    def _price(self, name: str, values: Mapping[str, object], line: int) -> None:
        keys = {"input": "input_cost_per_token", "output": "output_cost_per_token"}
        price = {k: number_of(values.get(key)) for k, key in keys.items()}
        per_million = {k: number_of(round(v * 1e6, 6)) for k, v in price.items() if v is not None}
        if (query := number_of(values.get("input_cost_per_query"))) is not None:
            per_million["search"] = query
        if per_million:
            self.draft.prices[name] = Entry(per_million, [line])

    def _strategy(self) -> None:
        """The strategy of the router, for each model that has a choice."""
        choice = STRATEGIES.get(str(self.router.get("routing_strategy")), "weighted")
        line = self.draft.line(("router_settings", "routing_strategy"))
        for model in self.draft.models.values() if choice != "weighted" else ():
            if len(model.value["to"]) > 1:
                model.value["choose"] = choice
                model.lines.append(line)

    def _aliases(self) -> None:
        for section in (self.router, self.settings):
            aliases = section.get("model_group_alias")
            for name, target in aliases.items() if isinstance(aliases, dict) else ():
                group = target.get("model") if isinstance(target, dict) else target
                at: Path = ("router_settings", "model_group_alias", name)
                if not isinstance(group, str) or group not in self.draft.models:
                    self.draft.skip(at, f"there is no model '{group}'")
                elif name not in self.draft.models:
                    value = self.draft.models[group].value
                    to = [
                        each if "model" in each else {**each, "model": group}
                        for each in value["to"]
                    ]
                    self.draft.models[name] = Entry({**value, "to": to}, [self.draft.line(at)])

    def _fallbacks(self) -> None:
        for section, at in self._both():
            listed = section.get("fallbacks")
            for index, entry in enumerate(listed if isinstance(listed, list) else ()):
                for name, others in entry.items() if isinstance(entry, dict) else ():
                    self._fallback(name, others, (*at, "fallbacks", index, name))
            defaults = section.get("default_fallbacks")
            if isinstance(defaults, list):
                for name in set(self.draft.models) - set(map(str, defaults)):
                    if "fallback" not in self.draft.models[name].value:
                        self._fallback(name, defaults, (*at, "default_fallbacks"))

    def _fallback(self, name: str, others: object, at: Path) -> None:
        models = self.draft.models
        others = others if isinstance(others, list) else [others]
        fallbacks = [other for other in others if isinstance(other, str) and other in models]
        for other in others:
            if other not in fallbacks:
                self.draft.skip(at, f"there is no model '{other}'", "a fallback")
        if name not in models:
            self.draft.skip(at, f"there is no model '{name}'", "a fallback")
            return
        for other in [other for other in fallbacks if self._leads_to(other, name)]:
            fallbacks.remove(other)
            reason = f"'{other}' falls back to '{name}': fallbacks must not form a cycle"
            self.draft.skip(at, reason, "a fallback")
        if fallbacks:
            models[name].value["fallback"] = fallbacks
            models[name].lines.append(self.draft.line(at))

    def _leads_to(self, start: str, name: str, visited: frozenset[str] = frozenset()) -> bool:
        if start == name:
            return True
        if start in visited or start not in self.draft.models:
            return False
        below = self.draft.models[start].value.get("fallback", ())
        return any(self._leads_to(other, name, visited | {start}) for other in below)

    def _policies(self) -> None:
        budget = number_of(self.settings.get("max_budget"))
        if budget:
            at: Path = ("litellm_settings", "max_budget")
            duration = str(self.settings.get("budget_duration", "30d"))
            if per := window(duration):
                options = {"amount": budget, "per": per, "by": "all"}
                self.draft.policies.append(Entry({"spend_limit": options}, [self.draft.line(at)]))
            else:
                reason = f"WARNING, the models are not limited: its window '{duration}' is unknown"
                self.draft.skip(at, reason)
        imported = {"fallbacks", "default_fallbacks", "model_group_alias", "max_budget"}
        imported |= {"budget_duration", "num_retries", "request_timeout", "timeout"}
        imported |= {"stream_timeout", "allowed_fails", "cooldown_time", "drop_params"}
        imported |= {"default_max_parallel_requests"}
        for section, at in self._both():
            for key, value in section.items():
                is_strategy = key == "routing_strategy" and section is self.router
                is_known = is_strategy and str(value) in STRATEGIES
                if key not in imported | HARMLESS and not is_known:
                    self.draft.skip((*at, key), reason_for(key))

    def _both(self) -> Iterator[tuple[Mapping[str, object], Path]]:
        yield self.settings, ("litellm_settings",)
        yield self.router, ("router_settings",)

    def _token(self) -> None:
        """The master key is a token; its owner keeps it."""
        key = self.general.get("master_key")
        at: Path = ("general_settings", "master_key")
        if isinstance(key, str) and not key.startswith("os.environ/"):
            sha256 = digest(key)
            if reason := guess(sha256, "master"):
                self.draft.skip(at, f"it can be guessed, {reason}: {_NEW_ONE}")
            else:
                entry = Entry({"name": "master", "sha256": sha256}, [self.draft.line(at)])
                self.draft.tokens.append(entry)
        elif key is not None:
            self.draft.skip(at, f"its value is not in the file: {_NEW_ONE}")
        for name in self.general:
            if name != "master_key" and name not in HARMLESS:
                self.draft.skip(("general_settings", name), reason_for(name))


_UNITS: Mapping[str, Callable[[str], str]] = {
    "mo": lambda count: "month" if count == "1" else f"{int(count) * 30}d",
    "s": lambda count: f"{count}s",
    "m": lambda count: f"{count}m",
    "h": lambda count: f"{count}h",
    "d": lambda count: f"{count}d",
    "w": lambda count: f"{int(count) * 7}d",
}


def window(text: str) -> str:
    """The window of a budget's duration: `30d` is unchanged, `1w` is `7d`, `1mo` is `month`; "" for
    an unknown form."""
    match = re.fullmatch(r"([1-9]\d*)(mo|[smhdw])", text)
    return _UNITS[match[2]](match[1]) if match else ""


IMPORTER = Importer("LiteLLM's config.yaml", _read)


def read_defaults(
    draft: ImportedConfig, deployments: Mapping[str, Sequence[tuple[Mapping[str, object], Path]]]
) -> None:
    """Add the defaults that all deployments of a model share, and note the others. `deployments`
    are parameters and their places, by the name of the model."""
    for name, deployed in deployments.items():
        values: Json = {}
        for key in PLACES:
            reason = _problem(key, [parameters.get(key) for parameters, _ in deployed])
            for parameters, at in deployed:
                if key in parameters and reason:
                    draft.skip((*at, key), reason)
            if not reason:
                values |= dict(_edits(key, deployed[0][0].get(key)))
        if values:
            body: Json = {"default": values}
            if unless := {key: others for key, others in SYNONYMS.items() if key in values}:
                body["unless"] = unless
            draft.models[name].value["transform"] = {"request": {"body": body}}


def _problem(key: str, values: Sequence[Any]) -> str:
    """Why a default is not imported, "" if it is, or if there is none."""
    if any(value != values[0] for value in values):
        return "the deployments of a model have different values"
    if values[0] is None:
        return ""
    return "" if fits(key, number_of(values[0])) else "not every format of chat takes this value"


def _edits(key: str, value: object) -> Iterator[tuple[str, object]]:
    if value is not None:
        yield from ((place, number_of(value)) for place in PLACES[key])
