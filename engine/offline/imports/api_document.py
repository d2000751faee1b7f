"""An OpenAPI document as entries of gateway.yaml: a spec, an upstream and a route."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from engine.config.starter_config import PLACEHOLDER
from engine.source.problem import Findings
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.spec.operation import Operation, server_url
from engine.spec.spec import Specification
from engine.spec.spec import read as read_document
from engine.values.trees import Json
from engine.values.wildcard import matches

_MAX_NAMED = 5


class Filters(Struct, frozen=True):
    """The operations that are wanted: with one of the tags and one of the paths, which may have
    wildcards and the path of the server. Without any, all."""

    tags: Sequence[str] = ()
    paths: Sequence[str] = ()

    def accepts(self, operation: Operation, tags: Collection[str]) -> bool:
        by_tag = not self.tags or any(tag in self.tags for tag in tags)
        return by_tag and (not self.paths or any(_has_path(operation, p) for p in self.paths))


def _has_path(operation: Operation, pattern: str) -> bool:
    paths = (operation.path, *(template for template, _ in operation.templates))
    return any(matches(path, pattern) for path in paths)


class ImportedApi(Struct, frozen=True):
    """A document that can be read, with the names of its `operations` that are wanted."""

    name: str
    specification: Specification
    operations: Sequence[str]
    upstream: str

    def copies(self, folder: Path) -> dict[Path, Path]:
        """Where the files of the document belong in the folder of a project, the document first:
        files in it stay where they are."""
        files = [*self.specification.library.files]
        if all(file.is_relative_to(folder) for file in files):
            return {file: file for file in files}
        if len(files) == 1:
            return {files[0]: folder / "openapi" / f"{self.name}{files[0].suffix}"}
        top = Path(os.path.commonpath([file.parent for file in files]))
        return {file: folder / "openapi" / self.name / file.relative_to(top) for file in files}

    @property
    def variable(self) -> str:
        """The environment variable of the credential, "" if the document asks for none."""
        return f"{re.sub(r'[^A-Z0-9]', '_', self.name.upper())}_API_KEY" if self._scheme else ""

    def spec(self, document: str, mount: str = "") -> Json:
        """The entry under `specs`; `mount` is another prefix of its paths."""
        return {"document": document} | ({"mount": [mount]} if mount else {})

    def upstream_entry(self) -> Json:
        """The entry under `upstreams`."""
        credential = self._credential()
        return {"url": self.upstream} | ({"credential": credential} if credential else {})

    def route(self) -> Json:
        """The entry under `routes`."""
        ids = [f"{self.name}.{operation}" for operation in self.operations]
        is_whole = len(ids) == len(self.specification.operations)
        names: Any = f"{self.name}.*" if is_whole else ids
        return {"operations": names, "to": [{"upstream": self.name}]}

    @property
    def prefix(self) -> str:
        """The prefix of all paths under the path of the document's server."""
        operations = self.specification.operations
        mounts = (mount for name in self.operations for mount in operations[name].mounts)
        return f"/{self.name}{next(mounts, '')}"

    @property
    def _scheme(self) -> Node | None:
        """The scheme of the first credential that the wanted operations ask for."""
        document = self.specification.library.document
        schemes = document.get("components").get("securitySchemes")
        for name in self.operations:
            node = self.specification.node(self.specification.operations[name])
            needs = node.get("security") if node.has("security") else document.get("security")
            for need in needs.elements():
                for scheme in need.value if isinstance(need.value, dict) else ():
                    if isinstance(schemes.get(scheme).value, dict):
                        return schemes.get(scheme)
        return None

    def _credential(self) -> Json:
        scheme = self._scheme
        if scheme is None:
            return {}
        secret = f"${{{self.variable}:-{PLACEHOLDER}}}"
        scheme_type, location = scheme.text("type"), scheme.text("in")
        if scheme_type == "apiKey" and location in ("header", "query"):
            return {location: scheme.text("name"), "value": secret}
        if scheme_type == "http" and scheme.text("scheme").lower() == "basic":
            return {"basic": {"user": f"${{{self.variable}_USER:-user}}", "password": secret}}
        return {"bearer": secret}


def read(
    file: Path, name: str, upstream: str, filters: Filters, findings: Findings
) -> ImportedApi | None:
    """The API of a document; None if it cannot be read, which the findings say.

    `name` is that of the spec, by default made from the file's. Raises ValueError if no operation
    is wanted, or if no address is known.
    """
    name = name or _name_of(file)
    specification = read_document(name, file.resolve(), str(file), (), findings)
    if specification is None:
        return None
    tags = {
        operation.name: _tags(specification.node(operation))
        for operation in specification.operations.values()
    }
    operation_names = [
        each.name
        for each in specification.operations.values()
        if filters.accepts(each, tags[each.name])
    ]
    if not operation_names:
        raise ValueError(_nothing(specification, filters, tags.values()))
    url = (
        _with_path(upstream, specification, operation_names) if upstream else _server(specification)
    )
    if not url:
        raise ValueError("the document names no server with a host: give --upstream URL")
    return ImportedApi(name, specification, operation_names, url.rstrip("/"))


def _name_of(file: Path) -> str:
    """The name of a spec: that of the file, or of its folder for `openapi.yaml`."""
    stem = file.name.partition(".")[0]
    if stem.lower() in ("openapi", "swagger", "spec", "api"):
        stem = file.resolve().parent.name or stem
    return re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_") or "api"


def _tags(operation: Node) -> list[str]:
    tags = operation.get("tags").value
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _server(specification: Specification) -> str:
    """The document's first server with a host, "" without one."""
    for server in specification.library.document.get("servers").elements():
        url = server_url(server)
        try:
            parts = urlsplit(url)
        except ValueError:
            continue  # `check` reports it
        if parts.scheme in ("http", "https") and parts.netloc and "{" not in url:
            return url
    return ""


def _with_path(url: str, specification: Specification, operation_names: Sequence[str]) -> str:
    """The URL of an upstream; without a path, it gets that of the document's server, which it would
    replace otherwise. A slash at its end is a path."""
    parts = urlsplit(url)
    if parts.path or parts.query:
        return url
    paths = sorted({specification.operations[name].mounts[0] for name in operation_names})
    if len(paths) > 1:
        names = ", ".join(path or "/" for path in paths)
        raise ValueError(
            f"its operations are under the paths {names} of several servers: choose those of one "
            "with --path, or give --upstream with a path, if only /"
        )
    return f"{url}{paths[0]}"


def _nothing(specification: Specification, filters: Filters, tags: Collection[list[str]]) -> str:
    """Why no operation is wanted."""
    if not specification.operations:
        return "the document has no operation that can be served"
    names = sorted({tag for each in tags for tag in each})
    for tag in filters.tags:
        if tag not in names:
            choices = ", ".join(names[:_MAX_NAMED]) or "none"
            hint = did_you_mean(tag, names, f"there are {choices}")
            return f"no operation has the tag '{tag}': {hint}"
    paths = sorted({operation.path for operation in specification.operations.values()})
    for path in filters.paths:
        if not any(_has_path(each, path) for each in specification.operations.values()):
            hint = did_you_mean(path, paths, f"paths are like {', '.join(paths[:_MAX_NAMED])}")
            return f"no path matches '{path}': {hint}; `*` stands for any text"
    return "no operation has both one of the tags and one of the paths"
