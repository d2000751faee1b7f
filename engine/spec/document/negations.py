"""Negations of schemas that lose a keyword: `not` refuses the more, the less its schema says."""

from __future__ import annotations

from pathlib import Path as FilePath

from engine.source.problem import Path
from engine.spec.document.node import Library
from engine.spec.document.schema_keywords import SUBSCHEMA_MAPPINGS

_NAMING = frozenset({*SUBSCHEMA_MAPPINGS, "schemas", "parameters", "headers"})
"""The mappings of which a key `not` is a name."""


def remove_negation(library: Library, uri: FilePath, path: Path) -> None:
    """Remove the outermost `not` around a path, if there is one, because something there is left
    out."""
    for index, step in enumerate(path):
        if step == "not" and path[index - 1] not in _NAMING:
            holder = library.files[uri].value
            try:
                for above in path[:index]:
                    holder = holder[above]
            except (KeyError, IndexError):
                return  # with more around it
            holder.pop("not", None)
            return
