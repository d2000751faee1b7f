"""Files of the Gemini API (https://ai.google.dev/api/files)."""

from __future__ import annotations

from collections.abc import Callable

from engine.dialects.interface.files import (
    FileFacts,
    FileFormat,
    FileUpload,
    Piece,
    size_of,
    text_of,
)
from engine.values.trees import Json

_LIFETIME = 47 * 3_600.0
"""Files are deleted after 48 hours."""
_COMMAND, _OFFSET = "x-goog-upload-command", "x-goog-upload-offset"
_WITH_BYTES = {"upload"}, {"upload", "finalize"}
"""The commands of a piece. What others do with bytes is not known, so these are not kept."""
_DIGITS = 15


def _facts(value: Json) -> FileFacts:
    return FileFacts(
        text_of(value.get("displayName"), "file"),
        text_of(value.get("mimeType"), "application/octet-stream"),
        size_of(value.get("sizeBytes")),
    )


def _upload(facts: FileFacts) -> FileUpload:
    headers = (
        ("x-goog-upload-protocol", "resumable"),
        (_COMMAND, "start"),
        ("x-goog-upload-header-content-length", str(facts.size)),
        ("x-goog-upload-header-content-type", facts.media_type),
    )
    body = {"file": {"displayName": facts.name, "mimeType": facts.media_type}}
    return FileUpload(headers, body=body)


def _read_piece(header: Callable[[str], str]) -> Piece | None:
    words = {word.strip().lower() for word in header(_COMMAND).split(",")}
    offset = header(_OFFSET)
    if words not in _WITH_BYTES or not offset.isdecimal() or len(offset) > _DIGITS:
        return None
    return Piece(int(offset), "finalize" in words)


FILES = FileFormat(
    _facts,
    _upload,
    id=("file", "name"),
    query={"alt": "media"},
    address="x-goog-upload-url",
    piece=((_COMMAND, "upload, finalize"), (_OFFSET, "0")),
    url="https://generativelanguage.googleapis.com/v1beta/",
    lifetime=_LIFETIME,
    read_piece=_read_piece,
)
