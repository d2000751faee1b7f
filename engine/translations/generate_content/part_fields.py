"""What requests and answers have in common: members under their documented names, base64 as other
vendors read it, media, signatures, and those of other vendors in a request that is relayed as it
came: newer models refuse a call of a tool without a signature, except for the value that stands for
one."""

from __future__ import annotations

import base64
from collections.abc import Container
from typing import Literal

from msgspec import Raw

from engine.dialects.gemini.proto_json import json_name
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members, encode
from engine.translations.neutral.request_json import JsonObject
from engine.values.json_spans import JsonPath
from engine.values.trees import Json

NAME = "generate_content"

SEAL_BASE64 = base64.b64encode(neutral.SEAL.encode()).decode()
"""Begins every sealed signature here, where signatures are base64."""

_TO_STANDARD = str.maketrans("-_", "+/")

THOUGHT = "thought:"
"""Begins a signature that is the thought's own; any other belongs to the block after it."""

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()


class Fields(Members):
    """Members under their documented names: Protocol Buffers' JSON allows snake case too."""

    __slots__ = ()

    def __init__(
        self, text: bytes | Raw | dict[str, Raw], place: str = "", unread: list[str] | None = None
    ) -> None:
        super().__init__(text, place, unread)
        self._raw = documented_names(self._raw)


_LISTS = frozenset(("parts", "tools", "functionDeclarations"))


def documented_names(members: dict[str, Raw]) -> dict[str, Raw]:
    if "_" not in "".join(members):
        return members
    return {_documented(name, members): raw for name, raw in members.items()}


def documented_lists(members: dict[str, Raw]) -> dict[str, Raw]:
    """The members of an object; an item may stand for a list of it, as the vendor's examples do."""
    for name in _LISTS.intersection(members):
        text = bytes(members[name])
        if text.startswith(b"{") and text != b"{}":
            members = {**members, name: Raw(b"[%b]" % text)}
    return members


class VendorObject(JsonObject, rename="camel"):
    """An object whose members may have their names in snake case, too."""

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        return documented_lists(documented_names(members))


class Blob(VendorObject):
    mime_type: str | None = None
    data: str | None = None
    display_name: str | None = None


class FileData(VendorObject):
    mime_type: str | None = None
    file_uri: str | None = None
    display_name: str | None = None


def _documented(name: str, names: Container[str]) -> str:
    camel = json_name(name)
    return name if camel in names else camel


def standard_base64(text: str) -> str:
    """Base64 with the alphabet and the padding that every vendor reads. Protocol Buffers' JSON
    allows the alphabet of URLs too, which the vendor's Python SDK writes."""
    text = text.translate(_TO_STANDARD).rstrip("=")
    return text + "=" * (-len(text) % 4)


def write_signature(signature: neutral.Signature) -> str:
    """`thoughtSignature`, which SDKs read as base64."""
    if signature.language == NAME:
        return signature.value.removeprefix(THOUGHT)
    return base64.b64encode(neutral.seal(signature, NAME).encode()).decode()


def read_signature(text: str) -> neutral.Signature | None:
    """The signature in `thoughtSignature`, None for the seal that stands for none."""
    if not text.startswith(SEAL_BASE64):
        return neutral.Signature(NAME, text)
    try:
        sealed = base64.b64decode(standard_base64(text), validate=True).decode()
    except ValueError:  # binascii.Error, or no text
        return neutral.Signature(NAME, text)
    signature = neutral.unseal(sealed, NAME)
    if signature == neutral.NO_SIGNATURE:
        return None
    return signature if signature.language != NAME else neutral.Signature(NAME, text)


MediaKind = Literal["image", "audio", "video", "document"]

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_UPLOADED = (
    "gs://",
    "https://generativelanguage.googleapis.com/",
    "https://www.youtube.com/",
    "https://youtube.com/",
    "https://youtu.be/",
)


def inline_media(blob: Blob) -> neutral.Media:
    named = neutral.inline(blob.mime_type or "", blob.data or "")
    source = neutral.inline(named.media_type, standard_base64(named.data))
    return neutral.Media(kind=_kind(source.media_type), source=source, name=blob.display_name or "")


def linked_media(file: FileData) -> neutral.Media:
    """Content at a URI: a file of the vendor's, or a link."""
    media_type, uri = file.mime_type or "", file.file_uri or ""
    source: neutral.Source = neutral.Link(uri, media_type)
    if uri.startswith(_UPLOADED):
        source = neutral.UploadedFile()
    return neutral.Media(kind=_kind(media_type), source=source, name=file.display_name or "")


def _kind(media_type: str) -> MediaKind:
    return _KINDS.get(media_type.partition("/")[0].lower(), "document")


_NAMES = ("thoughtSignature", "thought_signature")


def without_seals(request: object) -> neutral.Changes:
    """The changes that remove the thoughts of other vendors from a request's JSON value."""
    changes: dict[JsonPath, bytes | None] = {}
    for index, content in neutral.objects(request, "contents"):
        parts = _part_changes(content, ("contents", index, "parts"))
        removals = sum(len(path) == 4 for path in parts)
        if removals and removals == len(content["parts"]):
            changes["contents", index] = None
        else:
            changes.update(parts)
    return changes


def _part_changes(content: Json, place: JsonPath) -> dict[JsonPath, bytes | None]:
    """The changes of one turn: a part that only carries thoughts is removed."""
    changes: dict[JsonPath, bytes | None] = {}
    for at, part in neutral.objects(content, "parts"):
        name = next((name for name in _NAMES if str(part.get(name)).startswith(SEAL_BASE64)), None)
        if name is None:
            continue
        if part.get("thought") or part.get("text") == "":
            changes[*place, at] = None
        else:
            calls = "functionCall" in part or "function_call" in part
            changes[*place, at, name] = encode(UNSIGNED) if calls else None
    return changes
