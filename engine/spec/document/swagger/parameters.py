"""Parameters and headers of Swagger 2.0, whose keywords of a schema are beside their other members.

`collectionFormat` becomes a style of OpenAPI 3, or one of its own name (`parameter_readers.py`)
where that has none: for tabs, in paths and headers, and in forms, whose parts of a multipart body
have it too.
"""

from __future__ import annotations

from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.spec.document.swagger.moves import Moves, move_keys
from engine.values.trees import Json

SCHEMA_KEYS = frozenset(
    {"type", "format", "items", "default", "maximum", "exclusiveMaximum", "minimum", "enum"}
    | {"exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems"}
    | {"uniqueItems", "multipleOf", "x-nullable"}
)
"""The keywords of a parameter, header or form field that bound its value."""


_OF_QUERIES = {"csv": "form", "ssv": "spaceDelimited", "pipes": "pipeDelimited"}
"""The styles of OpenAPI 3 for the collection formats of a query."""
SPLITS = "csv", "ssv", "tsv", "pipes"
"""The collection formats that separate the items of one text."""


def convert(node: Node, moves: Moves, at: Path | None = None) -> None:
    """Move the keywords of a parameter or header into a `schema`; nothing if it has one. `at` is
    its path after the conversion, if that differs."""
    value = node.value
    if not isinstance(value, dict) or isinstance(value.get("schema"), dict):
        return
    keywords = schema_of(value)
    if not keywords:
        return
    style = style_of(value)
    move_keys(moves, node, keywords, (*(at or node.path), "schema"))
    for key in keywords:
        del value[key]
    value["schema"] = keywords
    value.update(style)
    value.pop("collectionFormat", None)


def schema_of(value: Json) -> Json:
    """The keywords of a schema among the members of a parameter, header or form field."""
    schema = {key: member for key, member in value.items() if key in SCHEMA_KEYS}
    _name_inner_formats(schema.get("items"))
    return schema


def style_of(value: Json) -> Json:
    """The style of a list, as OpenAPI 3 describes it; none for anything else."""
    if value.get("type") != "array":
        return {}
    name = value.get("collectionFormat")
    name = name if name in (*SPLITS, "multi") else "csv"
    place = value.get("in")
    if name == "multi":
        return {"style": "form", "explode": True} if place in ("query", "formData") else {}
    if place == "query":
        return {"style": _OF_QUERIES.get(name, name), "explode": False}
    return {"style": name, "explode": False} if name != "csv" or place == "formData" else {}


def _name_inner_formats(items: object) -> None:
    """Name the format of lists in a list, which the readers of parameters look for."""
    while isinstance(items, dict) and items.get("type") == "array":
        if items.get("collectionFormat") not in SPLITS:
            items["collectionFormat"] = "csv"
        items = items.get("items")
