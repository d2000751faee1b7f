"""Files of OpenAI (https://platform.openai.com/docs/api-reference/files), and its batches: a file
of JSON Lines is uploaded, and results are files too.

https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence

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

_FILES = ("output_file_id", "error_file_id")
_OUTPUT = "batch_output"
"""The purpose of a file with results, which no upload can have."""


def _facts(value: Json) -> FileFacts:
    name = text_of(value.get("filename"), "file")
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return FileFacts(name, media_type, size_of(value.get("bytes")))


def _upload(facts: FileFacts) -> FileUpload:
    """The purpose is that for which chats take a file."""
    purpose = "vision" if facts.media_type.startswith("image/") else "user_data"
    return FileUpload(fields={"purpose": purpose}, part="file")


FILES = FileFormat(_facts, _upload)


def result(line: Json) -> BatchResult:
    """A line of a file with results. A request that was never made has an `error` alone."""
    name, response = line.get("custom_id"), line.get("response")
    name = name if isinstance(name, str) else ""
    if not isinstance(response, dict):
        return BatchResult(name, 500)
    status = response.get("status_code")
    status = status if type(status) is int else 200
    return BatchResult(name, status, response.get("body"), ("response", "body"))


def files(value: Json) -> Sequence[str]:
    """The files with results of a batch, or the id of such a file."""
    if value.get("purpose") == _OUTPUT and isinstance(value.get("id"), str):
        return [value["id"]]
    return [name for key in _FILES if isinstance(name := value.get(key), str) and name]


BATCHES = BatchFormat(
    name=("custom_id",),
    body=("body",),
    result=result,
    file="file",
    purpose="purpose",
    purposes=("batch", "batch-api"),  # the second is that of Together
    method="method",
    url="url",
    files=files,
)
