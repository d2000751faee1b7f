"""Files of OpenAI (https://platform.openai.com/docs/api-reference/files)."""

from __future__ import annotations

import mimetypes

from engine.dialects.interface.files import FileFacts, FileFormat, FileUpload, size_of, text_of
from engine.values.trees import Json


def _facts(value: Json) -> FileFacts:
    name = text_of(value.get("filename"), "file")
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return FileFacts(name, media_type, size_of(value.get("bytes")))


def _upload(facts: FileFacts) -> FileUpload:
    """The purpose is that for which chats take a file."""
    purpose = "vision" if facts.media_type.startswith("image/") else "user_data"
    return FileUpload(fields={"purpose": purpose}, part="file")


FILES = FileFormat(_facts, _upload)
