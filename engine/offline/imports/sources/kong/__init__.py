"""Kong's declarative config: the models of `ai-proxy` and `ai-proxy-advanced`, their
plugins, and keys of consumers.

https://developer.konghq.com/gateway/entities/
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.config.guessable_secrets import guess
from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.offline.imports.sources.interface import Importer
from engine.offline.imports.sources.kong.entities import Entity, Plugin, listed, read_entities
from engine.offline.imports.sources.kong.models import read_models
from engine.offline.imports.sources.kong.policies import Guarded, read_policies
from engine.offline.imports.sources.kong.upstreams import ENVIRONMENT, variable
from engine.source.problem import Path
from engine.values.caller import digest

_AI = ("ai-proxy", "ai-proxy-advanced")
_SECTIONS = ("services", "routes", "plugins", "consumers")


def _read(draft: ImportedConfig) -> None:
    """Fill the draft from services, routes, plugins and consumers."""
    for section in draft.source.value:
        if section not in _SECTIONS and section[0] != "_":
            draft.skip((section,), "there is no counterpart")
    for match in ENVIRONMENT.finditer(draft.source.text):
        draft.secrets[variable(match)] = ""
    entities = read_entities(draft)
    guarded = _read_models(draft, entities)
    _note_paths(draft, entities, guarded)
    for entry, at in listed(draft.source.value, "consumers", ()):
        _read_consumer(draft, entry, at)
    read_policies(draft, entities, guarded, _AI)


def _read_models(draft: ImportedConfig, entities: list[Entity]) -> list[Guarded]:
    """Add the models, once per plugin. Returns the entities by which callers reach models: routes,
    and services or the file with a plugin and without routes."""
    plugins = [plugin for entity in entities for plugin in entity.plugins if plugin.name in _AI]
    carried = _read_size(draft, entities, plugins)
    names = {plugin.at: read_models(draft, plugin, carried) for plugin in plugins}
    above = {entity.above.at for entity in entities if entity.above}
    guarded: list[Guarded] = []
    for entity in entities:
        plugin = entity.effective(_AI)
        if plugin and names[plugin.at] and entity.at not in above:
            guarded.append(Guarded(entity, names[plugin.at]))
    return guarded


def _read_size(
    draft: ImportedConfig, entities: list[Entity], plugins: list[Plugin]
) -> frozenset[str]:
    """Add the size of bodies that all AI plugins allow as a policy, unless another plugin sets
    one. Returns the names of the settings that are policies."""
    key = "max_request_body_size"
    sizes = {plugin.config.get(key) for plugin in plugins}
    others = (plugin.name for entity in entities for plugin in entity.plugins)
    size = next(iter(sizes), None)
    if len(sizes) != 1 or not isinstance(size, int) or "request-size-limiting" in others:
        return frozenset()
    if size > 0:
        line = draft.line((*plugins[0].at, "config", key))
        draft.policies.append(Entry({"max_body": f"{size}B"}, [line]))
    return frozenset({key})


def _note_paths(draft: ImportedConfig, entities: list[Entity], guarded: list[Guarded]) -> None:
    """Note the paths of models' routes, and the entities without models."""
    imported = {each.entity.at for each in guarded}
    imported |= {each.entity.above.at for each in guarded if each.entity.above}
    for entity in entities:
        if entity.at in imported:
            for key in ("paths", "hosts", "headers", "methods", "snis"):
                if entity.at and entity.value.get(key):
                    reason = "callers use the paths of the documents, like /v1/chat/completions"
                    draft.skip((*entity.at, key), reason)
        elif entity.at and entity.at not in imported and entity.service() is entity:
            reason = "`modelway import openapi DOC --upstream URL` takes an OpenAPI document of it"
            draft.skip(entity.at, reason, f"{entity.kind} {entity.name}")


def _read_consumer(draft: ImportedConfig, consumer: Mapping[str, object], at: Path) -> None:
    """Add a token for each literal key of a consumer, by its digest."""
    name = str(consumer.get("username", consumer.get("custom_id", "consumer")))
    for credential, place in listed(consumer, "keyauth_credentials", at):
        key = credential.get("key")
        if not isinstance(key, str) or ENVIRONMENT.search(key):
            draft.skip((*place, "key"), "its value is not in the file", f"a key of {name}")
            continue
        sha256 = digest(key)
        if reason := guess(sha256, name):
            reason = f"it can be guessed, {reason}: `modelway token new NAME` makes one"
            draft.skip((*place, "key"), reason, f"a key of {name}")
            continue
        if sha256 in [token.value["sha256"] for token in draft.tokens]:
            continue
        names = {token.value["name"] for token in draft.tokens}
        unique = name if name not in names else f"{name}-{len(names) + 1}"
        draft.tokens.append(Entry({"name": unique, "sha256": sha256}, [draft.line(place)]))
    for key in consumer:
        if key not in ("username", "custom_id", "keyauth_credentials", "tags", "id"):
            is_guard = key in ("plugins", "acls", "groups")
            warning = f"WARNING, {name} is without: " if is_guard else ""
            draft.skip((*at, key), f"{warning}there is no counterpart")


IMPORTER = Importer("Kong's declarative config", _read)
