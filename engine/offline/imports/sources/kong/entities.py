"""The entities of Kong's declarative config: which plugins apply to a service or a route.

https://developer.konghq.com/gateway/entities/plugin/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from engine.offline.imports.imported_config import ImportedConfig
from engine.source.problem import Path
from engine.values.trees import Section

_REFERENCES = ("service", "route", "consumer", "consumer_group")


class Plugin(Struct, frozen=True):
    """A plugin that is enabled, with the place of its entry."""

    name: str
    config: Section
    at: Path


@dataclass(slots=True)
class Entity:
    """The file, a service or a route, with its own plugins. `above` is the entity that contains
    it."""

    value: Section
    at: Path
    above: Entity | None = None
    plugins: list[Plugin] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.value.get("name", self.at[-1] if self.at else ""))

    @property
    def kind(self) -> str:
        return "route" if "routes" in self.at else "service"

    def effective(self, names: tuple[str, ...]) -> Plugin | None:
        """The plugin with one of these names that applies here: only the most specific one runs
        (Kong's plugin precedence)."""
        plugin_here = next((plugin for plugin in self.plugins if plugin.name in names), None)
        return plugin_here or (self.above.effective(names) if self.above else None)

    def service(self) -> Entity:
        """The service itself, or that of a route; the file for a route without a service."""
        is_service = self.above is None or self.above.above is None
        return self if is_service or self.above is None else self.above.service()


def listed(holder: Mapping[str, object], name: str, at: Path) -> Iterator[tuple[Any, Path]]:
    """The mappings of a list, with their places."""
    entries = holder.get(name)
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield entry, (*at, name, index)


def mapping(value: Any) -> Section:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def read_entities(draft: ImportedConfig) -> list[Entity]:
    """The file, its services and its routes. Disabled services, and plugins bound to entities that
    the file does not have, are noted."""
    file = Entity(draft.source.value, ())
    entities = [file]
    for value, at in listed(file.value, "services", ()):
        if value.get("enabled") is False:
            draft.skip(at, "it is disabled", f"service {value.get('name', '')}")
            continue
        service = Entity(value, at, file)
        entities += [service, *(Entity(v, p, service) for v, p in listed(value, "routes", at))]
    services = {entity.name: entity for entity in entities[1:] if entity.at[0] == "services"}
    for value, at in listed(file.value, "routes", ()):
        entities.append(Entity(value, at, services.get(_name(value.get("service")), file)))
    for entity in list(entities):
        for value, at in listed(entity.value, "plugins", entity.at):
            _bind(draft, entities, entity, value, at)
    return entities


def _bind(
    draft: ImportedConfig, entities: list[Entity], entity: Entity, value: Any, at: Path
) -> None:
    """Add a plugin to the entity that contains it, or to the one that it names."""
    if value.get("enabled") is False:
        return
    name = str(value.get("name"))
    references = [key for key in _REFERENCES if value.get(key) is not None]
    target_name = _name(value[references[0]]) if references else ""
    kinds = {"service": "services", "route": "routes"}
    if references and (len(references) > 1 or references[0] not in kinds or entity.at):
        bound = " and ".join(f"{key} {_name(value[key])}" for key in references)
        draft.skip((*at, "name"), f"WARNING, {bound} is without it", f"plugin {name}")
        return
    if references:
        kind = kinds[references[0]]
        matches = [e for e in entities if kind in e.at[-2:] and e.name == target_name]
        if not matches:
            draft.skip(
                (*at, "name"), f"there is no {references[0]} '{target_name}'", f"plugin {name}"
            )
            return
        entity = matches[0]
    entity.plugins.append(Plugin(name, mapping(value.get("config")), at))


def _name(reference: Any) -> str:
    """The name in a reference, which is a string, or a mapping with `name` or `id`."""
    members = mapping(reference)
    return str(members.get("name", members.get("id", ""))) if members else str(reference)
