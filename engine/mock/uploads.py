"""Files that callers upload: in a form, or as Google's clients do, resumably. Then a first request
gets the address of the upload, the others bring the bytes, and the last one is answered with the
file.

Protocol: https://developers.google.com/photos/library/guides/resumable-uploads
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.exchange.exchange import Exchange, Response
from engine.mock.object_store import ObjectStore
from engine.spec.bodies.multipart import MultipartError, boundary_of, parse
from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError
from engine.values.trees import Json

COMMAND = "HTTP_X_GOOG_UPLOAD_COMMAND"
_JSON = ("content-type", "application/json")
_ACTIVE, _FINAL = ("x-goog-upload-status", "active"), ("x-goog-upload-status", "final")
_MAX_UPLOADS = 1000


@dataclass(slots=True)
class _Upload:
    request: Json
    media_type: str
    content: bytearray = field(default_factory=bytearray)


class Uploads:
    """The uploads that have begun, by their id; the oldest make room."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._uploads: dict[str, _Upload] = {}

    def handle(self, exchange: Exchange, example: Any) -> Response | None:
        """The response to a request of an upload, None to any other. `example` is the document's
        answer. Raises GatewayError 404 for an upload that there is not."""
        command = exchange.header(COMMAND)
        if command is None:
            return None
        return self._start(exchange) if command == "start" else self._piece(exchange, example)

    def _start(self, exchange: Exchange) -> Response:
        value = exchange.content.value
        id_ = secrets.token_hex(12)
        while len(self._uploads) >= _MAX_UPLOADS:
            del self._uploads[next(iter(self._uploads))]
        media_type = exchange.header("HTTP_X_GOOG_UPLOAD_HEADER_CONTENT_TYPE") or ""
        self._uploads[id_] = _Upload(value if isinstance(value, dict) else {}, media_type)
        host = exchange.header("HTTP_HOST")
        url = f"http://{host}{exchange.path}?upload_id={id_}&upload_protocol=resumable"
        return Response(200, [_JSON, ("x-goog-upload-url", url), _ACTIVE], b"{}")

    def _piece(self, exchange: Exchange, example: Any) -> Response:
        id_ = Query.parse(exchange.query).get("upload_id") or ""
        upload = self._uploads.get(id_)
        if upload is None:
            raise GatewayError(404, "not_found", f"There is no upload '{id_}'.")
        upload.content += b"".join(exchange.body.chunks())
        if "finalize" not in str(exchange.header(COMMAND)):
            received = ("x-goog-upload-size-received", str(len(upload.content)))
            return Response(200, [_JSON, _ACTIVE, received], b"{}")
        del self._uploads[id_]
        answer = example if isinstance(example, dict) else {}
        if isinstance(file := answer.get("file"), dict):
            self._keep(file, upload)
        return Response(200, [_JSON, _FINAL], orjson.dumps(answer))

    def _keep(self, file: Json, upload: _Upload) -> None:
        """Complete the example of a file by what was uploaded, and keep it."""
        metadata = upload.request.get("file", {})
        name = metadata.get("name") or file["name"]
        display_name = metadata.get("displayName", metadata.get("display_name"))
        file.update(name=name, mimeType=upload.media_type, sizeBytes=str(len(upload.content)))
        if display_name is not None:
            file["displayName"] = display_name
        collection, _, id_ = str(name).rpartition("/")
        file["uri"] = f"https://generativelanguage.googleapis.com/v1beta/{name}"
        self._store.keep(f"/{collection}", id_, file, bytes(upload.content))


def uploaded_file(exchange: Exchange) -> tuple[bytes, Json]:
    """The content of the first file of a form, and what vendors say of it, by the names of members;
    b"" and nothing if there is none."""
    try:
        boundary = boundary_of(exchange.header("CONTENT_TYPE") or "")
    except MultipartError:
        return b"", {}
    buffer = exchange.body.buffer
    for part in parse(buffer, boundary):
        if part.filename is not None:
            size = part.end - part.start
            described = {"filename": part.filename, "bytes": size, "size_bytes": size}
            described["mime_type"] = part.content_type or "application/octet-stream"
            return bytes(buffer[part.start : part.end]), described
    return b"", {}
