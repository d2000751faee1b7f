"""Writes requests of an operation from values: the path, the query, headers and the body, as its
document describes them."""

from __future__ import annotations

import json
import string
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson
from msgspec import Struct, field

from engine.exchange.exchange import MISSING
from engine.spec.bodies.form_writers import write_form, write_multipart
from engine.spec.bodies.sequences import write_sequence
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.document.schema_types import properties_of
from engine.spec.document.styles import STYLES
from engine.spec.operation import Operation
from engine.spec.parameters.parameter_writers import ParameterWriter, apart, parameter_writer
from engine.values.media_types import body_kind, essence, sequence_kind


class RequestValues(Struct, frozen=True):
    """The values of a request. Parameters are by their names, JSON values; None is the same as no
    value. `body` is a JSON value, bytes as they are sent, or MISSING; `media_type` is its media
    type, by default the first of the document that fits. The body of a form is an object of its
    fields, in a multipart form with a `File` for each file, that of a sequence a list of items.
    `body_text` is the JSON of a body that is sent as it was written, b"" for any other."""

    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    cookies: Mapping[str, Any] = field(default_factory=dict)
    body: Any = MISSING
    media_type: str = ""
    body_text: bytes = b""


class WrittenRequest(NamedTuple):
    """A request, as on the wire."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def target(self) -> str:
        """The path with its query."""
        return f"{self.path}?{self.query}" if self.query else self.path


class RequestWriter:
    """Writes the requests of one operation. What its document does not declare is written in the
    default style of its location, and judged by the gateway as in any request."""

    def __init__(
        self, operation: Operation, item: Node, node: Node, slash_variables: Collection[str] = ()
    ) -> None:
        """`item` is the path item of the operation, `node` its own node; `slash_variables`
        are the variables of its path that may contain slashes."""
        self._operation = operation
        self._variables = tuple(path_templates.variables(operation.path))
        self._names = frozenset(self._variables)
        self._pieces = _pieces(
            operation.templates[0][0].removesuffix(operation.path), operation.path
        )
        self._fixed = operation.query
        contents = dict(node.get("requestBody").get("content").items())
        self._media_types = [*contents]
        self._encodings = {
            essence(name): media.value["encoding"]
            for name, media in contents.items()
            if isinstance(media.value, dict) and isinstance(media.value.get("encoding"), dict)
        }
        self._writers: dict[str, dict[str, ParameterWriter]] = {each: {} for each in STYLES}
        self._query_type = ""
        self._json_body = self.json_type
        for declared in declared_parameters(item, node):
            self._declare(declared, slash_variables)
        for name in self._variables:
            if name not in self._writers["path"]:
                self._writers["path"][name] = parameter_writer(
                    name, "path", has_slashes=name in slash_variables
                )
        self._fields = {
            essence(name): frozenset(properties_of((s := media.get("schema")).value, s.follow))
            for name, media in contents.items()
            if body_kind(essence(name)) == "form"
        }
        self._separate()

    def _declare(self, declared: Node, slash_variables: Collection[str]) -> None:
        name, location = declared.text("name"), declared.text("in")
        media_type = next((key for key, _ in declared.get("content").items()), "")
        if location == "querystring":
            self._query_type = media_type
        elif name and location:
            explode = declared.value.get("explode")
            style = declared.text("style") or None
            if style not in STYLES.get(location, ()):
                style = None  # nor is such a parameter validated; `check` warns of it
            if location in STYLES:
                self._writers[location][_folded(name, location)] = parameter_writer(
                    name, location, style, explode, media_type, has_slashes=name in slash_variables
                )

    def _separate(self) -> None:
        """Let no member of an object have the name of another parameter."""
        for location, writers in self._writers.items():
            fixed = (name for name, _ in self._fixed) if location == "query" else ()
            names = [*writers, *fixed]
            for name, writer in writers.items():
                writers[name] = apart(writer, names)

    def write(self, values: RequestValues) -> WrittenRequest:
        """The request of these values. Raises ValueError, with the name of the parameter."""
        path, query = self._path(values.path), self._query(values.query)
        headers = tuple(self._texts("header", values.headers).items()) if values.headers else ()
        if values.cookies:
            cookies = "; ".join(self._texts("cookie", values.cookies).values())
            headers += (("cookie", cookies),) if cookies else ()
        body, media_type = self._body(values)
        if media_type:
            headers += (("content-type", media_type),)
        return WrittenRequest(self._operation.method, path, query, headers, body)

    def _path(self, values: Mapping[str, object]) -> str:
        names = self._variables
        if not self._names.issuperset(values):
            unknown = next(name for name in values if name not in self._names)
            raise ValueError(
                f"{self._operation.id} has no path parameter '{unknown}'; "
                f"it has {', '.join(names) or 'none'}"
            )
        if not names:
            return self._pieces[0]
        writers, pieces = self._writers["path"], [*self._pieces]
        for index, name in enumerate(names):
            value = values.get(name)
            text = None if value is None else writers[name].write(value)
            if not text:
                raise ValueError(f"path parameter '{name}' of {self._operation.id} needs a value")
            pieces[2 * index + 1] = text
        path = "".join(pieces)
        if "/." in path and not _DOTS.isdisjoint(path.split("/")):
            raise ValueError(f"a path parameter of {self._operation.id} is '.' or '..'")
        return path

    def _query(self, values: Mapping[str, object]) -> str:
        if self._query_type:
            return self._whole_query(values)
        if not (values or self._fixed):
            return ""
        texts = "&".join(self._texts("query", values).values())
        if self._fixed and (fixed := [pair for pair in self._fixed if pair[0] not in values]):
            return "&".join((urlencode(fixed), texts)) if texts else urlencode(fixed)
        return texts

    def _whole_query(self, values: Mapping[str, object]) -> str:
        """The query of a parameter that is the whole query string (`in: querystring`)."""
        if not values:
            return ""
        if body_kind(essence(self._query_type)) == "json":
            return quote(json.dumps(values), safe="")
        return "&".join(self._texts("query", values).values())

    def _texts(self, location: str, values: Mapping[str, object]) -> dict[str, str]:
        """The texts of the values of a location, by name; nothing for a value that no text has."""
        writers, is_header = self._writers[location], location == "header"
        texts: dict[str, str] = {}
        for name, value in values.items():
            if value is not None:
                writer = writers.get(name.lower() if is_header else name)
                text = (writer or parameter_writer(name, location)).write(value)
                if text is not None:
                    texts[name] = text
        return texts

    def _body(self, values: RequestValues) -> tuple[bytes, str]:
        """The bytes of the body, and its media type."""
        if values.body_text:
            return values.body_text, values.media_type
        body = values.body
        if body is MISSING:
            return b"", ""
        is_plain = values.media_type == self._json_body != ""
        if is_plain and not isinstance(body, bytes):  # nearly every one
            return self._json(body), values.media_type
        if isinstance(body, bytes):
            default = next(iter(self._media_types), "application/octet-stream")
            return body, values.media_type or _concrete(default)
        media_type = values.media_type or self.json_type or _first(self._media_types)
        name = essence(media_type)
        kind = sequence_kind(name) or body_kind(name)
        encoding = self._encodings.get(name)
        if kind == "form" and isinstance(body, Mapping):
            return write_form(body, encoding, self._fields.get(name, ())), media_type
        if kind == "multipart" and isinstance(body, Mapping):
            return write_multipart(body, encoding)
        if kind == "text" and isinstance(body, str):
            return body.encode(), media_type
        is_sequence = kind in ("lines", "records", "events") and isinstance(body, list)
        if kind != "json" and not is_sequence:
            raise ValueError(
                f"the body of {self._operation.id} is {self._media_types[0]}, not JSON; "
                "give its bytes and its media type"
            )
        return self._json(body, kind if is_sequence else ""), media_type

    def _json(self, body: Any, sequence: str = "") -> bytes:
        """The JSON of a body, or that of a sequence of this kind. Raises ValueError."""
        try:
            return write_sequence(sequence, body) if sequence else orjson.dumps(body)
        except TypeError as error:
            raise ValueError(f"the body of {self._operation.id} is not JSON: {error}") from error

    @property
    def json_type(self) -> str:
        """The media type of JSON bodies, "" if the document has other ones only."""
        if not self._media_types:
            return "application/json"
        json_types = (name for name in map(_concrete, self._media_types) if _is_json(name))
        return next(json_types, "")


_UNQUOTED = string.punctuation
"""Characters of a path that are not quoted: also `%`, as a path may be quoted already."""
_DOTS = frozenset({".", ".."})


def _pieces(mount: str, template: str) -> tuple[str, ...]:
    """The pieces of a path: what stands between its variables, as on the wire (a document may have
    other characters in its paths), and at the odd indexes the names of these."""
    pieces = path_templates.pieces(template)
    pieces[0] = mount + pieces[0]
    pieces[::2] = [quote(text, safe=_UNQUOTED) for text in pieces[::2]]
    return tuple(pieces)


def _folded(name: str, location: str) -> str:
    """The name of a parameter, to compare it: those of headers have no case."""
    return name.lower() if location == "header" else name


def _first(media_types: Sequence[str]) -> str:
    """The first media type of a form, a sequence or text, "" if there is none."""
    kinds = (
        (name, sequence_kind(essence(name)) or body_kind(essence(name))) for name in media_types
    )
    return next((name for name, kind in kinds if kind), "")


def _concrete(media_range: str) -> str:
    """A media type of a range that includes JSON, or the media type itself."""
    return "application/json" if media_range in ("*/*", "application/*") else media_range


def _is_json(media_type: str) -> bool:
    return body_kind(essence(media_type)) == "json"
