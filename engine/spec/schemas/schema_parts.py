"""The parts of files that a schema refers to: its validator needs no other part of a document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import NamedTuple

from engine.source.problem import Path
from engine.spec.document.compact_json import dumps
from engine.spec.document.reference_target import pointer_steps, target_of
from engine.spec.schemas.json_schema_files import EXACT_SUFFIX, JsonSchemaFile
from engine.spec.schemas.schema_validator import SchemaPart

_REFERENCE = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)":("(?:[^"\\]|\\.)*")')

_Place = tuple[str, Path]


class _Part(NamedTuple):
    """A part of a file, and the places that it refers to."""

    part: SchemaPart
    places: list[_Place]


class SchemaParts:
    """The parts of files by URI."""

    def __init__(self, files: Mapping[str, JsonSchemaFile]) -> None:
        self._files = files
        self._paths = {uri: FilePath(target_of(uri, FilePath())[0]) for uri in files}
        self._parts: dict[_Place, _Part] = {}

    def of(self, uri: str, path: Path) -> tuple[str, tuple[SchemaPart, ...]]:
        """The JSON of the schema at a path of a file, and the parts that it refers to, directly and
        indirectly."""
        root = self._part(uri, path)
        queue, parts = [*root.places], {}
        while queue:
            place = queue.pop()
            if place not in parts:
                parts[place], places = self._part(*place)
                queue += places
        return root.part.text, tuple(parts.values())

    def remove(self, uri: str, path: Path) -> None:
        """Remove the value at a path from its file."""
        self._files[uri].remove(path)
        self._parts.clear()

    def _part(self, uri: str, path: Path) -> _Part:
        place = (uri, path)
        if place not in self._parts:
            text = dumps(self._files[uri].at(path))
            # Also those in examples, which do no harm: they are not compiled.
            references = set(_REFERENCE.findall(text))
            targets = (self._target(uri, json.loads(reference)) for reference in references)
            places = [each for each in targets if each is not None]
            self._parts[place] = _Part(SchemaPart(uri, path, text), places)
        return self._parts[place]

    def _target(self, uri: str, reference: str) -> _Place | None:
        """The place that a reference in a file leads to: the complete file for a name. None without
        a target, which the compiler reports."""
        file, _, fragment = reference.partition("#")
        path = tuple(pointer_steps(fragment))
        try:
            if file:
                suffix = EXACT_SUFFIX if file.endswith(EXACT_SUFFIX) else ""
                target, _ = target_of(file.removesuffix(suffix), self._paths[uri])
                uri = target.as_uri() + suffix
            self._files[uri].at(path)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return uri, path
