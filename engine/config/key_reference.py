"""The reference of all keys as Markdown, made from the schema: docs/reference/keys.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engine.config.json_schema import types_of
from engine.config.keys import ENTRY, Key
from engine.values.trees import Section

_HEAD = """# Keys of gateway.yaml

Written by `modelway schema --format markdown -o docs/reference/keys.md`; do not edit it here.
A *path* is relative to the folder of the file that names it. A *secret* belongs in `${VAR}` or
`${file:...}`. The last column says which change `modelway diff` reports as *weaker*.
"""
_TABLE = "| key | value | default | meaning | weaker |\n|---|---|---|---|---|"
_TYPES = {"boolean": "true or false", "object": "mapping", "array": "list", "null": "nothing"}
_WEAKER = {
    "always": "any change",
    "more": "more",
    "less": "less",
    "removal": "without it",
    "exposure": "reached by more machines",
    "plaintext": "http in place of https",
    "gain": "more entries",
    "loss": "fewer entries",
    "never": "",
}
_PLURALS = {"string": "strings", "network": "networks", "origin": "origins"}
_SECRETS = {"url": "may hold a password", "headers": "may be secret", "shape": "may be secret"}


def markdown(root: Key) -> str:
    """One table for each section."""
    parts = [_HEAD]
    for name, section in root.children.items():
        described = section.schema.get("description", "")
        entry = section.children.get(ENTRY)
        if entry is not None and not entry.children:
            entry = None
        described += f" {_entries(section)}." if entry is not None else ""
        described = described.replace("<", "&lt;")
        rows = [_row(key, len(section.path) + (entry is not None)) for key in _rows(section)]
        parts.append("\n".join([f"## {name}", "", described, "", _TABLE, *rows, ""]))
    return "\n".join(parts)


def _entries(section: Key) -> str:
    is_list = "array" in types_of(section.schema)
    return "Keys of each entry of the list" if is_list else "Keys of each named entry"


def _rows(key: Key) -> Iterator[Key]:
    """The keys that have a value: without mappings that only group keys."""
    children = [
        child for child in key.children.values() if child.path[-1] != ENTRY or _has_names(child)
    ]
    entry = key.children.get(ENTRY)
    is_union = "anyOf" in key.schema or (entry is not None and "anyOf" in entry.schema)
    if key.path[-1] != ENTRY and (not children or is_union):
        yield key
    for child in children:
        yield from _rows(child)


def _has_names(entry: Key) -> bool:
    """Whether an entry has named keys, not only values or lists of them."""
    return any(name != ENTRY or _has_names(child) for name, child in entry.children.items())


def _row(key: Key, start: int) -> str:
    path = ".".join(map(str, key.path[start:])) or str(key.path[0])
    name = path.replace(".*.", "[].")
    default = key.schema.get("default")
    default_cell = "" if "default" not in key.schema else f"`{_plain(default)}`"
    cells = (
        f"`{name}`",
        _value(key),
        default_cell,
        key.schema.get("description", ""),
        _weaker(key),
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def _value(key: Key) -> str:
    words = [_kind(key.schema, key)]
    if key.notes.get("path") or any(child.notes.get("path") for child in key.children.values()):
        words.append("path")
    if secret := key.notes.get("secret"):
        words += [_SECRETS.get(secret, "secret")] if secret != "token" else []  # noqa: S105
    return ", ".join(words)


def _kind(schema: Section, key: Key | None = None) -> str:
    """The form of a value, in words."""
    unit = key.notes.get("unit") if key is not None else None
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(branch) for branch in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{_plain(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{_plain(schema['const'])}`"
    types = types_of(schema)
    if "array" in types:
        entry = key.children.get(ENTRY) if key is not None else None
        entries = unit or (_kind(entry.schema, entry) if entry is not None else "")
        return f"list of {_PLURALS.get(entries, entries)}" if entries else "list"
    words = " or ".join(_TYPES.get(kind, kind) for kind in types)
    if {"integer", "number"} & set(types):
        words += _bounds(schema)
    if unit == "duration" and key is not None:
        return f"duration{_duration_bounds(key)}"
    return str(unit) if unit == "size" else words or "any"


def _duration_bounds(key: Key) -> str:
    least, most = key.notes.get("bounds", ("0s", None))
    words = [] if least == "0s" else [f"from {least}"]
    return "".join(f", {bound}" for bound in (*words, *([f"up to {most}"] if most else [])))


def _bounds(schema: Mapping[str, object]) -> str:
    least = f"from {schema['minimum']}" if "minimum" in schema else ""
    if "exclusiveMinimum" in schema:
        least = f"more than {schema['exclusiveMinimum']}"
    most = f"up to {schema['maximum']}" if "maximum" in schema else ""
    return "".join(f", {bound}" for bound in (least, most) if bound)


def _weaker(key: Key) -> str:
    weaker = key.notes.get("weaker", "never")
    if isinstance(weaker, list):
        values = [f"`{_plain(value)}`" for value in weaker if value != "..."]
        return values[-1] if len(values) < 3 else f"a later one of {', '.join(values)}"
    return _WEAKER[weaker]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
