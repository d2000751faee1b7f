"""Files of Anthropic (https://docs.anthropic.com/en/api/files-create)."""

from __future__ import annotations

from engine.dialects.interface.files import FileFacts, FileFormat, FileUpload, size_of, text_of
from engine.values.trees import Json

_HEADERS = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "files-api-2025-04-14"))


def _facts(value: Json) -> FileFacts:
    return FileFacts(
        text_of(value.get("filename"), "file"),
        text_of(value.get("mime_type"), "application/octet-stream"),
        size_of(value.get("size_bytes")),
    )


def _upload(facts: FileFacts) -> FileUpload:
    return FileUpload(part="file")


FILES = FileFormat(_facts, _upload, headers=_HEADERS)
