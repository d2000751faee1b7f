"""`inlineData` and `fileData` -> media, in requests and answers."""

from __future__ import annotations

from typing import Literal

from engine.translations.generate_content.fields import NAME, standard_base64
from engine.translations.neutral.content import Inline, Link, Media, Source, UploadedFile
from engine.translations.neutral.members import Members

MediaKind = Literal["image", "audio", "video", "document"]

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_UPLOADED = (
    "gs://",
    "https://generativelanguage.googleapis.com/",
    "https://www.youtube.com/",
    "https://youtube.com/",
    "https://youtu.be/",
)
"""URIs that only this vendor reads."""


def read_inline(blob: Members) -> Media:
    """Content inside the JSON."""
    media_type = blob.text("mimeType") or ""
    source = Inline(media_type, standard_base64(blob.text("data") or ""))
    name = blob.text("displayName") or ""
    blob.rest()
    return Media(kind=_kind(media_type), source=source, name=name)


def read_file(file: Members) -> Media:
    """Content at a URI: a file of the vendor's, or a link."""
    media_type = file.text("mimeType") or ""
    uri = file.text("fileUri") or ""
    source: Source = Link(uri, media_type)
    if uri.startswith(_UPLOADED):
        source = UploadedFile(uri, NAME, media_type)
    name = file.text("displayName") or ""
    file.rest()
    return Media(kind=_kind(media_type), source=source, name=name)


def _kind(media_type: str) -> MediaKind:
    return _KINDS.get(media_type.partition("/")[0].lower(), "document")
