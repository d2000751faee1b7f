"""Kong's declarative config: the models of `ai-proxy` and `ai-proxy-advanced`, keys of consumers.

https://developer.konghq.com/gateway/entities/
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.config import providers
from engine.config.providers import Provider
from engine.offline.imported_config import Entry, ImportedConfig
from engine.source.problem import Path

TITLE = "Kong's declarative config"

_PROVIDERS = {
    **{name: name for name in ("openai", "anthropic", "mistral", "cohere", "gemini", "bedrock")},
    **{name: name for name in ("huggingface", "deepseek", "xai", "cerebras", "databricks")},
    **{name: name for name in ("ollama", "vllm")},
    "azure": "azure-deployments",
    "dashscope": "qwen",
}
_AI = ("ai-proxy", "ai-proxy-advanced")
_REASONS = {
    "key-auth": "every route asks for a token; keys of consumers are under tokens",
    "cors": "write cors: {origins: [...]}",
    "request-transformer": "write transform at the upstream",
    "response-transformer": "there is no counterpart",
    "rate-limiting": "write rate_limit under policies, or `rate` of a token",
    "request-size-limiting": "write max_body under policies",
    "ip-restriction": "write allow_ips under policies",
}
_ENVIRONMENT = re.compile(r"\$\{\{ *env +\"(\w+)\" *\}\}|\{vault://env/([\w-]+)\}")


def read(draft: ImportedConfig) -> None:
    """Fill the draft from services, routes, plugins and consumers."""
    value = draft.source.value
    for section in value:
        if section not in ("services", "routes", "plugins", "consumers") and section[0] != "_":
            draft.skip((section,), "there is no counterpart")
    _read_entity(draft, value, ())
    for entry, at in _listed(value, "consumers", ()):
        _read_consumer(draft, entry, at)


def _listed(holder: Mapping[str, Any], name: str, at: Path) -> Iterator[tuple[Any, Path]]:
    entries = holder.get(name)
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield entry, (*at, name, index)


def _read_entity(draft: ImportedConfig, entity: Mapping[str, Any], at: Path) -> bool:
    """The plugins of a service, a route or the file, and what is below it. Whether models were
    found."""
    found = False
    for plugin, place in _listed(entity, "plugins", at):
        name = str(plugin.get("name"))
        if name in _AI:
            found = _read_models(draft, plugin.get("config"), (*place, "config")) or found
        else:
            reason = _REASONS.get(name, "there is no counterpart")
            draft.skip((*place, "name"), reason, f"plugin {name}")
    for kind in ("services", "routes"):
        for below, place in _listed(entity, kind, at):
            inner = _read_entity(draft, below, place)
            if inner and "paths" in below:
                reason = "callers use the paths of the documents, like /v1/chat/completions"
                draft.skip((*place, "paths"), reason)
            elif kind == "services" and not inner:
                reason = "write an OpenAPI document of it, and a route with `to`"
                draft.skip(place, reason, f"service {below.get('name', '')}")
            found = inner or found
    return found


def _read_models(draft: ImportedConfig, config: Any, at: Path) -> bool:
    config = config if isinstance(config, dict) else {}
    targets = [*_listed(config, "targets", at)] or [(config, at)]
    imported = [_read_target(draft, target, place) for target, place in targets]
    return any(imported)


def _read_target(draft: ImportedConfig, target: Mapping[str, Any], at: Path) -> bool:
    model = target.get("model")
    model = model if isinstance(model, dict) else {}
    kind, name = str(model.get("provider")), model.get("name")
    provider = _PROVIDERS.get(kind, "")
    if provider not in providers.names() or not isinstance(name, str):
        reason = f"no provider of Modelway is known for '{kind}', or it names no model"
        draft.skip((*at, "model"), reason, "a model")
        return False
    options = model.get("options")
    options = options if isinstance(options, dict) else {}
    known = providers.read(provider)
    entry: dict[str, Any] = {"provider": provider}
    given = _variables(known, options)
    if any(not re.fullmatch(r"[\w.~-]+|\$\{\w+\}", text) for text in given.values()):
        draft.skip((*at, "model"), "its options cannot be a part of a URL", name)
        return False
    entry |= {"variables": given} if given else {}
    if known.credential is not None:
        entry["credential"] = {
            word: f"${{{text}}}" if word not in ("header", "query") and text else text
            for word, text in known.credential.items()
        }
        draft.skip((*at, "auth"), "the credential is a variable of the provider", "auth")
    for key in options:
        if key not in ("azure_instance", "azure_api_version", "azure_deployment_id"):
            draft.skip((*at, "model", "options", key), "there is no counterpart")
    line = draft.line((*at, "model"))
    upstream = draft.named(draft.upstreams, provider, entry, line)
    served = str(options.get("azure_deployment_id", name))
    if _ENVIRONMENT.search(served) or _ENVIRONMENT.search(str(model.get("model_alias", ""))):
        served = _ENVIRONMENT.sub(lambda m: f"${{{m[1] or m[2]}}}", served)
    requested = str(model.get("model_alias", name))
    requested = re.sub(r"[^\w./:*@-]+", "-", requested).strip("-") or "model"
    known_model = draft.models.setdefault(requested, Entry({"to": []}, []))
    weight = target.get("weight")
    share = {"weight": weight} if isinstance(weight, int) and weight > 0 else {}
    known_model.value["to"].append({"upstream": upstream, "model": served} | share)
    known_model.lines.append(line)
    return True


def _variables(provider: Provider, options: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a provider: those of the options, and of the environment for others that it
    needs."""
    keys = {"resource": "azure_instance", "api_version": "azure_api_version"}
    values = {name: options.get(key) for name, key in keys.items() if name in provider.variables}
    needed = {k: v.environment for k, v in provider.variables.items() if not v.default}
    environment = {name: f"${{{variable}}}" for name, variable in needed.items() if variable}
    return environment | {name: str(value) for name, value in values.items() if value is not None}


def _read_consumer(draft: ImportedConfig, consumer: Mapping[str, Any], at: Path) -> None:
    """Keys that are written out become tokens by their digest."""
    name = str(consumer.get("username", consumer.get("custom_id", "consumer")))
    for credential, place in _listed(consumer, "keyauth_credentials", at):
        key = credential.get("key")
        if not isinstance(key, str) or _ENVIRONMENT.search(key):
            draft.skip((*place, "key"), "its value is not in the file", f"a key of {name}")
            continue
        digest = hashlib.sha256(key.encode()).hexdigest()
        if digest in [token.value["sha256"] for token in draft.tokens]:
            continue
        names = {token.value["name"] for token in draft.tokens}
        unique = name if name not in names else f"{name}-{len(names) + 1}"
        draft.tokens.append(Entry({"name": unique, "sha256": digest}, [draft.line(place)]))
    for key in consumer:
        if key not in ("username", "custom_id", "keyauth_credentials", "tags", "id"):
            draft.skip((*at, key), "there is no counterpart")
