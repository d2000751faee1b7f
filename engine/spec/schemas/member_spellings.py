"""Members that requests of an API may spell in two ways: `generationConfig`, `generation_config`.

Both are one member. A request gets the documented names before anything reads it, so that whatever
judges, edits, counts or routes it knows a single name. Keys of free-form values, such as the
arguments of a function, are data and stay as they are: the document says which values these are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.spec.document.schema_keywords import SAME_VALUE, SAME_VALUE_LISTS
from engine.spec.document.schema_types import (
    Resolve,
    compile_parts,
    extra_of,
    items_of,
    properties_of,
)
from engine.spec.schemas.json_keys import TwoSpellings, key_edits
from engine.spec.schemas.refusal_messages import place
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit
from engine.values.json_spans import Buffer

JsonName = Callable[[str], str]
"""Gives the one name of a member that has two spellings."""

_OTHER_SPELLING = re.compile(
    rb'[{,][ \t\r\n]*+"(?:[A-Za-z0-9]|\\u00(?!5[Ff])[0-9A-Fa-f]{2})*+(?:_|\\u005[Ff])'
)
"""Finds a key with an underscore; letters may be escaped."""


class Spellings:
    """The members of an object in a document: `fields` by their documented names, `names` the
    documented name by the JSON name, `extra` for the members of a map, `items` for an array."""

    __slots__ = ("extra", "fields", "items", "json_name", "names")
    fields: dict[str, Spellings]
    names: dict[str, str]
    extra: Spellings
    items: Spellings
    json_name: JsonName

    @property
    def is_data(self) -> bool:
        """Whether the document describes nothing in this value: its keys are data."""
        if self.names:
            return False
        below = (self.extra, self.items)
        return all(not n.names and n.extra is n.items is n for n in below)

    def documented(self, name: str) -> str:
        """The documented name of a member; the name itself if the document has none."""
        return name if name in self.fields else self.names.get(self.json_name(name), name)

    def below(self, step: str | int) -> Spellings:
        """The members of the value at a documented name, or of an item."""
        return self.items if isinstance(step, int) else self.fields.get(step, self.extra)

    def steps(self, steps: Sequence[str]) -> tuple[str, ...]:
        """A path with the documented names."""
        node, documented = self, []
        for step in steps:
            documented.append(node.documented(step))
            node = node.at(documented[-1:])
        return tuple(documented)

    def at(self, steps: Sequence[str]) -> Spellings:
        """The members of the value at a path of documented names, in which an index may be `*`."""
        node = self
        for step in steps:
            may_be_index = step not in node.fields and (step.isdigit() or step == "*")
            node = node.items if may_be_index and node.items.fields else node.below(step)
        return node

    def edits(self, text: Buffer) -> list[Edit]:
        """The edits that give the members of a JSON text their documented names. Raises
        GatewayError 400 for a member that is there in both spellings."""
        if text.find(b"_") < 0 and text.rfind(b"\\u005") < 0:
            return []  # as most requests
        if _OTHER_SPELLING.search(text) is None:
            return []
        try:
            return key_edits(text, self)
        except TwoSpellings as error:
            param = place([*error.path, error.names[0]])
            message = f"{error}; send one of them ('{param}')."
            raise GatewayError(400, "invalid_value", message, param=param) from error

    def value(self, value: Any) -> Any:
        """A value of the config with the documented names."""
        if isinstance(value, list):
            return [self.items.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        names = {name: self.documented(name) for name in value}
        return {names[n]: self.below(names[n]).value(below) for n, below in value.items()}

    def schema(self, schema: Any) -> Any:
        """A JSON Schema without references for this object, with the documented names."""
        if not isinstance(schema, dict):
            return schema
        result = {**schema}
        for word in ("properties", "dependentSchemas", "dependentRequired"):
            if isinstance(members := schema.get(word), Mapping):
                result[word] = dict(self._members(word, members))
        if isinstance(names := schema.get("required"), list):
            result["required"] = [self.documented(name) for name in names]
        for word in ("items", "contains"):
            if word in schema:
                result[word] = self.items.schema(schema[word])
        if "prefixItems" in schema:
            result["prefixItems"] = [self.items.schema(each) for each in schema["prefixItems"]]
        result |= {word: self.schema(schema[word]) for word in SAME_VALUE if word in schema}
        for word in SAME_VALUE_LISTS:
            if word in schema:
                result[word] = [self.schema(each) for each in schema[word]]
        if "const" in schema:
            result["const"] = self.value(schema["const"])
        if "enum" in schema:
            result["enum"] = [self.value(each) for each in schema["enum"]]
        return result

    def _members(self, word: str, members: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, below in members.items():
            documented = self.documented(name)
            if word == "properties":
                yield documented, self.below(documented).schema(below)
            elif word == "dependentSchemas":
                yield documented, self.schema(below)
            else:
                yield documented, [self.documented(each) for each in below]


def compile_spellings(schema: object, resolve: Resolve, json_name: JsonName) -> Spellings:
    """The spellings of a schema and its subschemas, which may be recursive. If the document has
    both spellings of a member, its JSON name is the documented one."""

    def fill(
        part: Spellings, node: Mapping[str, Any], part_of: Callable[[object], Spellings]
    ) -> None:
        properties = properties_of(node, resolve)
        part.json_name = json_name
        part.names = {}
        for name in properties:
            camel = json_name(name)
            part.names[camel] = camel if camel in properties else name
        part.fields = {name: part_of(properties[name]) for name in part.names.values()}
        part.extra = part_of(extra_of(node, resolve))
        part.items = part_of(items_of(node, resolve))

    return compile_parts(schema, resolve, Spellings, fill)
