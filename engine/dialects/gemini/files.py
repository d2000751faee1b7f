"""Files of the Gemini API (https://ai.google.dev/api/files), and its batches: requests in the
body of one or in a file, for one model; results likewise.

https://ai.google.dev/gemini-api/docs/batch-api
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.dialects.interface.files import (
    BatchFormat,
    BatchResult,
    FileFacts,
    FileFormat,
    FileUpload,
    Piece,
    size_of,
    text_of,
)
from engine.values.trees import Json, member_at

_LIFETIME = 47 * 3_600.0
"""Files are deleted after 48 hours."""
_COMMAND, _OFFSET = "x-goog-upload-command", "x-goog-upload-offset"
_WITH_BYTES = {"upload"}, {"upload", "finalize"}
"""The commands of a piece. What others do with bytes is not known, so these are not kept."""
_DIGITS = 15
_OPERATIONS = {
    ":batchGenerateContent": ":generateContent",
    ":asyncBatchEmbedContent": ":embedContent",
}
_LIST = ("inlinedResponses", "inlinedResponses")
_EMBEDDINGS = ("inlinedEmbedContentResponses", "inlinedResponses")
_HOLDERS = (("response",), ("metadata", "output"))
_CALLERS_FAULTS = (3, 5, 7, 9, 11)
"""Codes of google.rpc.Code that stand for an HTTP status 4xx."""


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


def path(batch: str) -> str:
    """The path of the requests of a batch that is made at this path."""
    stem, colon, verb = batch.rpartition(":")
    return stem + _OPERATIONS.get(colon + verb, colon + verb)


def result(entry: Json) -> BatchResult:
    """A result in a response, or a line of a file with results."""
    metadata = entry.get("metadata")
    name = entry.get("key", metadata.get("key") if isinstance(metadata, dict) else None)
    name = name if isinstance(name, str) else ""
    if isinstance(entry.get("response"), dict):
        return BatchResult(name, 200, entry["response"], ("response",))
    error = entry.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return BatchResult(name, 400 if code in _CALLERS_FAULTS else 500)


def files(value: Json) -> Sequence[str]:
    """The file with results of a batch that has ended."""
    names = []
    for steps in _HOLDERS:
        name = member_at(value, (*steps, "responsesFile"))
        names += [name] if isinstance(name, str) and name not in names else []
    return names


BATCHES = BatchFormat(
    name=("metadata", "key"),
    body=("request",),
    result=result,
    is_named=False,
    requests=("batch", "inputConfig", "requests", "requests"),
    stored=("batch", "inputConfig", "fileName"),
    stored_name=("key",),
    path=path,
    lists=tuple((*holder, *steps) for holder in _HOLDERS for steps in (_LIST, _EMBEDDINGS)),
    files=files,
    id="name",
    model="modelVersion",
)
