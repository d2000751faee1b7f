"""Models of Kong's `ai-proxy` and `ai-proxy-advanced`: targets, upstreams and their credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.config import providers
from engine.config.providers import Provider
from engine.offline.imported_config import Entry, ImportedConfig
from engine.offline.importers.kong.entities import Plugin, listed, mapping
from engine.source.problem import Path

_PROVIDERS = {
    **{name: name for name in ("openai", "anthropic", "mistral", "cohere", "gemini", "bedrock")},
    **{name: name for name in ("huggingface", "deepseek", "xai", "cerebras", "databricks")},
    **{name: name for name in ("ollama", "vllm")},
    "azure": "azure-deployments",
    "dashscope": "qwen",
}
ENVIRONMENT = re.compile(r"\$\{\{ *env +\"(\w+)\" *\}\}|\{vault://env/([\w-]+)\}")


def reference(match: re.Match[str]) -> str:
    """A match of ENVIRONMENT as `${VAR}`."""
    return f"${{{variable(match)}}}"


def variable(match: re.Match[str]) -> str:
    """The variable that a match of ENVIRONMENT names."""
    return match[1] or match[2].upper().replace("-", "_")


def read_models(draft: ImportedConfig, plugin: Plugin) -> list[str]:
    """Add the models of an AI plugin to the draft. Returns their names."""
    at: Path = (*plugin.at, "config")
    targets = [*listed(plugin.config, "targets", at)] or [(plugin.config, at)]
    models = (_read_target(draft, target, place) for target, place in targets)
    return [*dict.fromkeys(name for name in models if name)]


def _read_target(draft: ImportedConfig, target: Mapping[str, Any], at: Path) -> str:
    """The name of the model that the target serves, "" if it is not imported."""
    model = mapping(target.get("model"))
    kind, name = str(model.get("provider")), model.get("name")
    provider = _PROVIDERS.get(kind, "")
    if provider not in providers.names() or not isinstance(name, str):
        reason = f"no provider of Modelway is known for '{kind}', or it names no model"
        draft.skip((*at, "model"), reason, "a model")
        return ""
    options = mapping(model.get("options"))
    facts = providers.read(provider)
    entry: dict[str, Any] = {"provider": provider}
    variables = _variables(facts, options)
    if any(not re.fullmatch(r"[\w.~-]+|\$\{\w+\}", text) for text in variables.values()):
        draft.skip((*at, "model"), "its options cannot be a part of a URL", name)
        return ""
    entry |= {"variables": variables} if variables else {}
    if facts.credential is not None:
        entry["credential"] = _credential(draft, facts.credential, target, at)
    elif target.get("auth"):
        draft.skip((*at, "auth"), "write the credential of the upstream")
    for key in options:
        if key not in ("azure_instance", "azure_api_version", "azure_deployment_id"):
            draft.skip((*at, "model", "options", key), "there is no counterpart")
    line = draft.line((*at, "model"))
    upstream = draft.named(draft.upstreams, provider, entry, line)
    served = str(options.get("azure_deployment_id", name))
    if ENVIRONMENT.search(served) or ENVIRONMENT.search(str(model.get("model_alias", ""))):
        served = ENVIRONMENT.sub(reference, served)
    requested = str(model.get("model_alias", name))
    requested = re.sub(r"[^\w./:*@-]+", "-", requested).strip("-") or "model"
    served_model = draft.models.setdefault(requested, Entry({"to": []}, []))
    weight = target.get("weight")
    share = {"weight": weight} if isinstance(weight, int) and weight > 0 else {}
    served_model.value["to"].append({"upstream": upstream, "model": served} | share)
    served_model.lines.append(line)
    return requested


def _credential(
    draft: ImportedConfig, form: Mapping[str, Any], target: Mapping[str, Any], at: Path
) -> dict[str, Any]:
    """The credential in the form of the provider. A secret that is written out becomes a variable,
    another one for each secret."""
    auth = mapping(target.get("auth"))
    key = "header_value" if auth.get("header_value") else "param_value"
    secret = str(auth.get(key) or "").removeprefix("Bearer ").strip()
    environment = ENVIRONMENT.fullmatch(secret)
    credential: dict[str, Any] = {}
    for word, value in form.items():
        is_secret = word not in ("header", "query") and isinstance(value, str)
        if is_secret and environment:
            credential[word] = reference(environment)
        elif is_secret:
            name = draft.variable(value, secret)
            credential[word] = f"${{{name}}}"
            if secret:
                reason = f"it is written out; set {name} to it"
                draft.skip((*at, "auth", key), reason, f"the value of {key}")
        else:
            credential[word] = value
    for name in auth:
        if name not in (key, "header_name", "param_name", "param_location"):
            draft.skip((*at, "auth", name), "write the credential of the upstream")
    return credential


def _variables(provider: Provider, options: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a provider: those of the options, and of the environment for others that it
    needs."""
    keys = {"resource": "azure_instance", "api_version": "azure_api_version"}
    values = {name: options.get(key) for name, key in keys.items() if name in provider.variables}
    needed = {k: v.environment for k, v in provider.variables.items() if not v.default}
    environment = {name: f"${{{variable}}}" for name, variable in needed.items() if variable}
    return environment | {name: str(value) for name, value in values.items() if value is not None}
