"""Schemas of the items of a sequence (`itemSchema` of OpenAPI 3.2)."""

from __future__ import annotations

from engine.source.problem import Path
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import operations_of
from engine.values.media_types import essence, sequence_kind


def describe_items(library: Library) -> None:
    """Describe each sequence that a request may have as an array, with its `itemSchema` for every
    item: a request is judged when all of it has arrived."""
    for item in [item for _, item in library.document.get("paths").items()]:
        for _, operation in operations_of(item):
            for name, media in operation.get("requestBody").get("content").items():
                if sequence_kind(essence(name)):
                    _describe(media)


def _describe(media: Node) -> None:
    item = media.literal("itemSchema")
    if not isinstance(item.value, dict | bool):
        return
    pointer = item.pointer
    ref = pointer if len(media.library.files) > 1 else pointer[pointer.index("#") :]
    array = {"type": "array", "items": {"$ref": ref}}
    schema = media.value.get("schema")
    if schema is None:
        media.value["schema"] = array
        _graft(media, ("schema",), ("itemSchema",))
    elif schema != array and not (isinstance(schema, dict) and array in schema.get("allOf", ())):
        media.value["schema"] = {"allOf": [schema, array]}
        _graft(media, ("schema", "allOf", 0), ("schema",))


def _graft(media: Node, new: Path, old: Path) -> None:
    """Give the value at `new` the place of the one that was at `old`."""
    library = media.library
    origin = library.origin(media.uri, (*media.path, *old))
    library.grafts.setdefault(media.uri, {})[*media.path, *new] = origin
