"""The JSON Schemas of one project for editors: those of gateway.yaml and of overlays, completed by
the names that the project has. A name that it does not have is allowed: `check` judges names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.config.json_schema import Schema
from engine.values.trees import map_leaves

_NAMED = ("specs", "upstreams", "models", "prices")
_INCOMPLETE = frozenset(
    {"required", "minProperties", "maxProperties", "dependentRequired", "if", "then", "else"}
)
"""Keywords that an overlay need not meet: the file before it has the rest."""
_ANNOTATIONS = ("description", "default", "examples", "x-modelway")
_OVERLAY = "overlay_"
_NOTHING = {"type": ["null", "string"], "maxLength": 0}


class Names(Struct, frozen=True):
    """The names that may be written in a project. `providers` and `dialects` are those of this
    version, `operations` those of its documents with a wildcard for each of them."""

    providers: Sequence[str] = ()
    dialects: Sequence[str] = ()
    operations: Sequence[str] = ()
    specs: Sequence[str] = ()
    upstreams: Sequence[str] = ()
    models: Sequence[str] = ()
    tokens: Sequence[str] = ()

    def places(self) -> Mapping[str, Sequence[str]]:
        """The names by their place: a path below `$defs`."""
        exact = [name for name in self.models if "*" not in name]
        return {
            "spec/properties/dialect": self.dialects,
            "upstream/properties/provider": self.providers,
            "upstream/properties/dialect": self.dialects,
            "target/properties/upstream": self.upstreams,
            "model/properties/fallback/items": exact,
            "model/properties/operations/items": self.operations,
            "route/properties/operation": self.operations,
            "route/properties/operations/anyOf/0/items": self.operations,
            "route/properties/model/anyOf/1/properties/default": exact,
            "token/properties/models/items": self.models,
            "token/properties/operations/items": self.operations,
            "policies/items/properties/allow_models/items": self.models,
            "policies/items/properties/allow_operations/items": self.operations,
            "test/properties/request/properties/token": self.tokens,
            "test/properties/expect/properties/operation": self.operations,
            "test/properties/expect/properties/upstream": self.upstreams,
        }


def project_schema(schema: Schema, names: Names) -> Schema:
    """The schema for editors with the names of a project, which are suggested and not required.
    Raises KeyError if the schema lacks one of the places."""
    result: Schema = _copy(schema)
    for place, values in names.places().items():
        *path, last = place.split("/")
        holder: Any = result["$defs"]
        for step in path:
            holder = holder[int(step) if isinstance(holder, list) else step]
        holder[last] = _suggested(holder[last], values)
    for section in _NAMED:
        entry = result["properties"][section]
        section_names = names.models if section == "prices" else getattr(names, section)
        entry["properties"] = dict.fromkeys(section_names, entry["additionalProperties"])
    return result


def overlay_schema(schema: Schema) -> Schema:
    """The schema of an overlay (`-c gateway.yaml -c prod.yaml`), from that of the whole file: an
    entry may have any of its keys, and a key may have no value, as with `!remove`."""
    result = _partial(schema)
    result["title"] = "An overlay of gateway.yaml"
    result["$id"] = str(schema.get("$id", "")).replace("gateway", "overlay")
    definitions = schema["$defs"].items()
    result["$defs"] = {
        **schema["$defs"],
        **{f"{_OVERLAY}{name}": _partial(definition) for name, definition in definitions},
    }
    return result


def _copy(value: object) -> Any:
    return map_leaves(value, lambda _, leaf: leaf)


def _suggested(schema: Schema, values: Iterable[str]) -> Schema:
    """A schema of texts that suggests these."""
    names = list(dict.fromkeys(values))
    if not names:
        return schema
    annotations = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    rest = {key: value for key, value in schema.items() if key not in annotations}
    return {**annotations, "anyOf": [{"enum": names}, rest]}


def _partial(schema: Schema) -> Schema:
    """A schema of mappings without what makes them complete. Lists are replaced, not merged, so
    that their entries stay complete."""
    result = {key: value for key, value in schema.items() if key not in _INCOMPLETE}
    if "$ref" in result:
        result["$ref"] = result["$ref"].replace("#/$defs/", f"#/$defs/{_OVERLAY}")
    if "properties" in result:
        result["properties"] = {k: _or_nothing(v) for k, v in result["properties"].items()}
    if isinstance(result.get("additionalProperties"), dict):
        result["additionalProperties"] = _or_nothing(result["additionalProperties"])
    if "anyOf" in result:
        result["anyOf"] = [_partial(branch) for branch in result["anyOf"]]
    return result


def _or_nothing(schema: Schema) -> Schema:
    """A schema that also takes no value. Language servers read `!remove` as an empty text."""
    annotations = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    rest = {key: value for key, value in schema.items() if key not in annotations}
    return {**annotations, "anyOf": [_partial(rest), dict(_NOTHING)]}
