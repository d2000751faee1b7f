"""Files of the Gemini API (https://ai.google.dev/api/files)."""

from __future__ import annotations

from engine.dialects.interface.files import FileFacts, FileFormat, FileUpload, size_of, text_of
from engine.values.trees import Json

_LIFETIME = 47 * 3_600.0
"""Files are deleted after 48 hours."""


def _facts(value: Json) -> FileFacts:
    return FileFacts(
        text_of(value.get("displayName"), "file"),
        text_of(value.get("mimeType"), "application/octet-stream"),
        size_of(value.get("sizeBytes")),
    )


def _upload(facts: FileFacts) -> FileUpload:
    headers = (
        ("x-goog-upload-protocol", "resumable"),
        ("x-goog-upload-command", "start"),
        ("x-goog-upload-header-content-length", str(facts.size)),
        ("x-goog-upload-header-content-type", facts.media_type),
    )
    body = {"file": {"displayName": facts.name, "mimeType": facts.media_type}}
    return FileUpload(headers, body=body)


FILES = FileFormat(
    _facts,
    _upload,
    id=("file", "name"),
    query={"alt": "media"},
    address="x-goog-upload-url",
    piece=(("x-goog-upload-command", "upload, finalize"), ("x-goog-upload-offset", "0")),
    url="https://generativelanguage.googleapis.com/v1beta/",
    lifetime=_LIFETIME,
)
