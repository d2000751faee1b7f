"""Transforms on the upstream's side: edits of the request of one attempt, before its credential."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import orjson
from msgspec.structs import replace

from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.transforms.body_edits import BodyEdits
from engine.transforms.caller_side import edit_json, edit_multipart
from engine.transforms.form_edits import edit_form
from engine.transforms.places import JsonName
from engine.transforms.response_edits import edits_bodies
from engine.transforms.template import TemplateValues
from engine.transforms.transform import Transform
from engine.values.json_document import JsonDocument
from engine.values.media_types import body_kind, essence
from engine.values.upstream_request import UpstreamRequest


class UpstreamEdits:
    """The transforms of a target in their order: its provider's, its upstream's and its own.
    `responses` are those that edit responses; `edits_bodies` is whether they edit bodies.

    `json_names` are those of the dialects whose requests the target gets: its own, or all for a
    target that gets the requests of every dialect."""

    __slots__ = ("_by_json_name", "edits_bodies", "responses", "transforms")

    def __init__(
        self, transforms: Sequence[Transform] = (), json_names: Collection[JsonName | None] = ()
    ) -> None:
        if len(json_names) == 1 and (json_name := next(iter(json_names))) is not None:
            transforms = [transform.with_names(json_name) for transform in transforms]
        self._by_json_name = {
            json_name: tuple(t.with_names(json_name) for t in transforms if t.request)
            for json_name in (json_names if len(json_names) > 1 else ())
            if json_name is not None
        }
        self.transforms = tuple(transform for transform in transforms if transform.request)
        self.responses = tuple(transform for transform in transforms if transform.response)
        self.edits_bodies = edits_bodies(self.responses)

    def __bool__(self) -> bool:
        return bool(self.transforms)

    def apply(self, request: UpstreamRequest, base_path: str, values: TemplateValues) -> None:
        """Edit a request whose path is below `base_path`; `values` get that path. Raises ValueError
        for an unsafe path, GatewayError 400 for a value of the request that is not valid where a
        template inserts it."""
        body = _RequestBody(request, values.exchange.on_end)
        transforms = self.transforms
        if self._by_json_name and (json_name := values.exchange.dialect.json_name) is not None:
            transforms = self._by_json_name.get(json_name, transforms)
        for transform in transforms:
            edits = transform.request
            path = request.path[len(base_path) :]
            values = replace(values, target_path=path)
            may_stream = edits.path is not None and edits.path.depends_on_stream(path)
            stream = may_stream and body.asks_for_stream  # which an edit may remove
            if edits.body:
                body.edit(edits.body, values)
            if edits.header:
                request.headers = edits.header.apply(request.headers, values)
            if edits.query:
                request.query = edits.query.apply(request.query, values)
            if edits.path is not None:
                request.path = base_path + edits.path.apply(values, stream=stream)
        body.close()


class _RequestBody:
    """The body of a request while it is edited; JSON is parsed once for all transforms. Callbacks
    that close a body on disk are added to `on_end`."""

    def __init__(self, request: UpstreamRequest, on_end: list[Callable[[], None]]) -> None:
        self._request = request
        self._on_end = on_end
        content_types = (value for name, value in request.headers if name == "content-type")
        self._content_type = next(content_types, "")
        self._kind = body_kind(essence(self._content_type)) if request.body is not None else ""
        self._document: JsonDocument | None = None

    @property
    def asks_for_stream(self) -> bool:
        """Whether the body has `stream: true`."""
        document = self._json()
        value = None if document is None else document.value
        return isinstance(value, dict) and value.get("stream") is True

    def edit(self, edits: BodyEdits, values: TemplateValues) -> None:
        """Make edits. Raises GatewayError 400."""
        if (document := self._json()) is not None:
            edit_json(document, edits, values)
        elif self._kind == "form":
            self._request.body = edit_form(self._bytes(), edits, values)
        elif self._kind == "multipart":
            body = self._received()
            edited = edit_multipart(body, self._content_type, edits, values)
            self._request.body = edited if edited.in_memory is None else edited.in_memory
            self._on_end += [spool.close for spool in (body, edited) if spool.in_memory is None]

    def close(self) -> None:
        """Give the request its edited JSON."""
        if self._document is not None:
            self._request.body = self._document.text

    def _json(self) -> JsonDocument | None:
        """The JSON of the body; None if it is not JSON, as validation is then off."""
        if self._document is None and self._kind == "json":
            try:
                self._document = JsonDocument.parse(self._bytes())
            except orjson.JSONDecodeError:
                self._kind = ""
        return self._document

    def _bytes(self) -> bytes:
        body = self._request.body or b""
        return body if isinstance(body, bytes) else b"".join(body.chunks())

    def _received(self) -> Body:
        """The body with a buffer of all its bytes."""
        body = self._request.body or b""
        return Body(body) if isinstance(body, bytes) else spool(body.chunks())
