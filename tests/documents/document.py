"""An OpenAPI document as a judge reads it: its operations, and the verdicts of
openapi-schema-validator on values. It shares no code with the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import yaml
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from openapi_schema_validator import OAS30WriteValidator, OAS31Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT202012

from tests.documents.swagger import with_bodies_of_3

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MAX_REFERENCES = 32


def _required(
    validator: Any, required: list[str], value: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    """Requests need not have members that are read-only, and may have them."""
    properties = schema.get("properties", {})
    for name in required if isinstance(value, dict) else ():
        if name not in value and properties.get(name, {}).get("readOnly") is not True:
            yield ValidationError(f"{name!r} is required")


_KEYWORDS: Any = {"required": _required, "readOnly": None}
_JUDGES: dict[bool, Any] = {
    True: extend(OAS30WriteValidator, _KEYWORDS),
    False: extend(OAS31Validator, _KEYWORDS),
}


class NotJudged(Exception):
    """The judge cannot read this part of the document."""


def _is_read(tag: str, pattern: object, first: str | None) -> bool:
    return not tag.endswith((":timestamp", ":value")) and not (
        tag.endswith(":bool") and first in tuple("yYnNoO")
    )


class _Loader(yaml.CSafeLoader):
    """YAML whose dates and `on` are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [each for each in resolvers if _is_read(*each, first)]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Part:
    """A value of a document, with its place."""

    document: Document
    uri: str
    pointer: str
    value: Any

    def get(self, key: str | int) -> Part:
        """A member or item, references followed; None as its value if there is none."""
        value = self.value
        if isinstance(value, list):
            child = value[key] if isinstance(key, int) and key < len(value) else None
        else:
            child = value.get(key) if isinstance(value, dict) else None
        step = str(key).replace("~", "~0").replace("/", "~1")
        return Part(self.document, self.uri, f"{self.pointer}/{step}", child).resolved()

    def items(self) -> Iterator[tuple[str, Part]]:
        for key in self.value if isinstance(self.value, dict) else ():
            yield key, self.get(key)

    def elements(self) -> Iterator[Part]:
        for index in range(len(self.value) if isinstance(self.value, list) else 0):
            yield self.get(index)

    def resolved(self) -> Part:
        """The target of its references. Raises NotJudged without one."""
        part = self
        for _ in range(_MAX_REFERENCES):
            ref = part.value.get("$ref") if isinstance(part.value, dict) else None
            if not isinstance(ref, str):
                return part
            if set(part.value) - {"$ref", "description", "summary"} and not part.document.is_30:
                return part  # keywords beside a reference count
            part = part.document.at(urljoin(part.uri, ref))
        raise NotJudged("a circle of references")

    def target(self) -> Part:
        """The target of its reference, whatever stands beside it."""
        return self.document.at(urljoin(self.uri, self.value["$ref"])).resolved()

    def accepts(self, value: Any) -> bool:
        """Whether a value matches this schema. Raises NotJudged."""
        kind = _JUDGES[self.document.is_30]
        schema = {"$ref": f"{self.uri}#{self.pointer}"}
        try:
            return bool(kind(schema, registry=self.document.registry).is_valid(value))
        except Exception as error:  # the judge fails in as many ways as documents are wrong
            raise NotJudged(f"{type(error).__name__}: {error}"[:100]) from error


Operation = tuple[str, str, Part, Part]
"""Path, method, path item and operation."""


class Document:
    """A document and the files it refers to."""

    def __init__(self, file: Path) -> None:
        self.uri = file.resolve().as_uri()
        root = self._file(self.uri)
        self.version = str(root.get("openapi") or root.get("swagger"))
        self.is_30 = self.version.startswith(("2.0", "3.0"))
        self.registry: Any = Registry(retrieve=self._resource)  # type: ignore[call-arg]
        self.root = Part(self, self.uri, "", root)

    @cache  # noqa: B019 - a document lives as long as its trial
    def _file(self, uri: str) -> Any:
        text = Path(unquote(uri.removeprefix("file://"))).read_text("utf-8-sig")
        value = json.loads(text) if text.lstrip()[:1] == "{" else yaml.load(text, _Loader)
        value = _with_texts_as_keys(value)
        return with_bodies_of_3(value) if "swagger" in value else value

    def _resource(self, uri: str) -> Any:
        kind = DRAFT4 if self.is_30 else DRAFT202012
        return Resource(contents=self._file(uri), specification=kind)

    def at(self, uri: str) -> Part:
        """The value at a URI with a JSON Pointer. Raises NotJudged without one."""
        file, _, pointer = uri.partition("#")
        try:
            value = self._file(file)
            for step in pointer.split("/")[1:]:
                name = unquote(step).replace("~1", "/").replace("~0", "~")
                value = value[int(name) if isinstance(value, list) else name]
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise NotJudged(f"no target: {uri[-80:]}") from error
        return Part(self, file, unquote(pointer), value)

    def operations(self) -> Iterator[Operation]:
        """Path, method, path item and operation of all that exist."""
        paths = self.root.get("paths")
        for path in paths.value if isinstance(paths.value, dict) else ():
            with suppress(NotJudged):  # a reference without a target
                item = paths.get(path)
                for method in METHODS if path.startswith("/") else ():
                    operation = item.get(method)
                    if isinstance(operation.value, dict):
                        yield path, method, item, operation

    def calls(self) -> Iterator[Operation]:
        """The operations that are no WebSocket."""
        for operation in self.operations():
            with suppress(NotJudged):
                if not operation[3].get("responses").get("101").value:
                    yield operation


def _with_texts_as_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_texts_as_keys(child) for key, child in value.items()}
    return [_with_texts_as_keys(child) for child in value] if isinstance(value, list) else value
