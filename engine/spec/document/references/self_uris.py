"""`$self` of OpenAPI 3.2, and `$id` of a file that is a schema: the URI of a file, against which
its references are resolved, wherever it is."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path as FilePath
from urllib.parse import quote, unquote, urljoin, urlsplit

from engine.source.files import is_file
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import UNUSABLE_NAME
from engine.spec.document.references.schema_ids import SchemaIds


class SelfUris:
    """The URIs of the files of a library that name one, and the schemas in them with names."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._files: dict[str, FilePath] = {}
        self._bases: dict[FilePath, str] = {}
        self.schemas = SchemaIds(library)

    def add(self, file: FilePath) -> None:
        """Add the URI of a file, if it has a `$self`. A relative one is resolved against the place
        of the file."""
        value = self._library.files[file].value
        self_uri = value.get("$self", value.get("$id")) if isinstance(value, dict) else None
        if isinstance(self_uri, str):
            with suppress(ValueError):
                base = urljoin(file.as_uri(), self_uri).partition("#")[0]
                self._bases[file] = base
                self._files.setdefault(base, file)
        self.schemas.add(file, self._bases.get(file, file.as_uri()))

    def localize(self, nodes: Iterable[Node]) -> None:
        """Write each reference by the local file that it means: one with a schema of this name, its
        own, one that has the URI as its `$self`, or one that lies to its file as the URI does to
        that of the file. Any other is unchanged."""
        nodes = list(nodes)
        self.schemas.localize(nodes)
        for node in nodes if self._files else ():
            node.value["$ref"] = self._local(node.value["$ref"], node.uri)

    def _local(self, ref: str, file: FilePath) -> str:
        target, mark, fragment = ref.partition("#")
        base = self._bases.get(file)
        if not target:
            return ref
        try:
            uri = urljoin(base or "", target)
            if (known_file := self._files.get(uri)) is not None:
                path = quote(os.path.relpath(known_file, file.parent)) if known_file != file else ""
                return f"{path}#{fragment}" if fragment or not path else path
            relative = _relative(uri, base) if base is not None else None
            if relative is not None and is_file((file.parent / unquote(relative)).resolve()):
                return relative + mark + fragment
        except UNUSABLE_NAME:
            pass
        return ref


def _relative(uri: str, base: str) -> str | None:
    """The path of a URI relative to that of `base`; None for one of another host."""
    parts, base_parts = urlsplit(uri), urlsplit(base)
    if parts[:2] != base_parts[:2]:
        return None
    return posixpath.relpath(parts.path, posixpath.dirname(base_parts.path) or "/")
