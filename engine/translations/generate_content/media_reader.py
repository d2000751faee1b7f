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


def inline_media(media_type: str, data: str, name: str) -> Media:
    """Content inside the JSON."""
    source = Inline(media_type, standard_base64(data))
    return Media(kind=_kind(media_type), source=source, name=name)


def linked_media(media_type: str, uri: str, name: str) -> Media:
    """Content at a URI: a file of the vendor's, or a link."""
    source: Source = Link(uri, media_type)
    if uri.startswith(_UPLOADED):
        source = UploadedFile(uri, NAME, media_type)
    return Media(kind=_kind(media_type), source=source, name=name)


def read_inline(blob: Members) -> Media:
    """`inlineData` of an answer."""
    names = ("mimeType", "data", "displayName")
    return inline_media(*(blob.text(name) or "" for name in names))


def read_file(file: Members) -> Media:
    """`fileData` of an answer."""
    names = ("mimeType", "fileUri", "displayName")
    return linked_media(*(file.text(name) or "" for name in names))


def _kind(media_type: str) -> MediaKind:
    return _KINDS.get(media_type.partition("/")[0].lower(), "document")
