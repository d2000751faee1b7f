"""Files of Anthropic (https://docs.anthropic.com/en/api/files-create), and its message batches:
requests in the body of one, results as JSON Lines.

https://docs.anthropic.com/en/api/creating-message-batches
"""

from __future__ import annotations

from engine.dialects.interface.files import (
    BatchFormat,
    BatchResult,
    FileFacts,
    FileFormat,
    FileUpload,
    size_of,
    text_of,
)
from engine.values.trees import Json

_HEADERS = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "files-api-2025-04-14"))
_STATUSES = {"canceled": 499, "expired": 504}
_CALLERS_FAULTS = ("invalid_request_error", "not_found_error", "permission_error")


def _facts(value: Json) -> FileFacts:
    return FileFacts(
        text_of(value.get("filename"), "file"),
        text_of(value.get("mime_type"), "application/octet-stream"),
        size_of(value.get("size_bytes")),
    )


def _upload(facts: FileFacts) -> FileUpload:
    return FileUpload(part="file")


FILES = FileFormat(_facts, _upload, headers=_HEADERS)


def result(line: Json) -> BatchResult:
    """A line of results: a message, an error, or a request that was never made."""
    name, entry = line.get("custom_id"), line.get("result")
    name = name if isinstance(name, str) else ""
    kind = entry.get("type") if isinstance(entry, dict) else None
    if kind == "succeeded" and isinstance(entry, dict):
        return BatchResult(name, 200, entry.get("message"), ("result", "message"))
    return BatchResult(name, _STATUSES.get(str(kind)) or _error_status(entry))


def _error_status(entry: object) -> int:
    """The status of an error, which has the form of an error response."""
    error = entry.get("error") if isinstance(entry, dict) else None
    inner = error.get("error") if isinstance(error, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return 400 if kind in _CALLERS_FAULTS else 500


BATCHES = BatchFormat(
    name=("custom_id",),
    body=("params",),
    result=result,
    requests=("requests",),
    path=lambda path: path.removesuffix("/batches"),
)
