"""`specs:` of gateway.yaml: OpenAPI documents, where they are served, and their dialects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from engine.config import keys
from engine.source.problem import Path
from engine.values.trees import Json


class Spec(Struct, frozen=True):
    """A document, its path prefixes and its dialect. `token` lists the locations of a token in a
    request, as written. `ignore` has the codes of warnings about the document that `check` does not
    print. `objects` are the facts of operations about objects, in place of the document's."""

    name: str
    document: str
    dialect: str
    mount: tuple[str, ...]
    token: tuple[Any, ...]
    at: Path
    overlays: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    objects: Mapping[str, Any] = field(default_factory=dict)


def read_spec(name: str, section: Json) -> Spec:
    """An entry of `specs:`."""
    values = keys.fill(section, "specs.*")
    mount = values.get("mount", [])
    return Spec(
        name=name,
        document=values["document"],
        dialect=values["dialect"],
        mount=(mount,) if isinstance(mount, str) else tuple(mount),
        token=tuple(values.get("token", ())),
        at=("specs", name),
        overlays=tuple(values.get("overlays", ())),
        ignore=tuple(values.get("ignore", ())),
        objects=values.get("objects", {}),
    )
