"""The blocks that messages and answers consist of, in their order, and their signatures.

`place` is where a block stands in the caller's request (`messages[2].content[0]`), for messages
about it.

A caller stores the signatures of an answer in its language and sends them back with the next turn.
A signature of another language is sealed with the name of that language, so that it is sent only to
the vendor that made it. A relayed request may contain sealed signatures of earlier turns that
another vendor answered. The caller's vendor would refuse them, so each language defines how to
remove them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Raw, Struct
from msgspec.structs import replace

from engine.values.json_spans import JsonPath
from engine.values.trees import Json
from engine.values.wildcard import Patterns

Extra = dict[str, Raw]
"""Members of a JSON object that the neutral form has no name for."""

CacheMark = Literal["", "5m", "1h"]
"""The lifetime of the prompt cache up to a part; "" for a part without a mark. 5 minutes is the
vendors' default."""


class Block(Struct, kw_only=True, gc=False):
    """A part of a message or of an answer. `cache` is its mark for the prompt cache."""

    place: str = ""
    cache: CacheMark = ""


class Citation(Struct):
    """The source of a span of text. `start` and `end` are character offsets in the block's text,
    None if unknown; `cited` are the words of the source."""

    url: str = ""
    title: str = ""
    cited: str = ""
    start: int | None = None
    end: int | None = None

    def moved(self, offset: int) -> Citation:
        """The citation with its span counted from another beginning."""
        if self.start is None or self.end is None:
            return self
        return replace(self, start=self.start + offset, end=self.end + offset)

    def span(self, length: int) -> tuple[int, int]:
        """The offsets in a text of so many characters: all of it if they are not known, and where
        a vendor gives impossible ones (some write zeros)."""
        start, end = self.start, self.end
        if start is None or end is None or not 0 <= start < end <= length:
            return 0, length
        return start, end


class Text(Block):
    """Plain text, with the sources that it cites."""

    text: str = ""
    citations: list[Citation] = []


class Refusal(Block):
    """The model's explanation why it does not answer."""

    text: str = ""


class Inline(Struct, frozen=True):
    """Content inside the request: base64 without line breaks or a `data:` prefix."""

    media_type: str
    data: str


def inline(media_type: str, data: str) -> Inline:
    """Content as callers write it: a whole data URL, or base64 in lines or with escapes of URLs.
    The type of an image is that of its first bytes, since callers often name another."""
    if data[:5].lower() == "data:":
        head, _, data = data.partition(",")
        media_type = media_type or head[5:].partition(";")[0].strip().lower()
    for code, sign in _ESCAPES.items() if "%" in data else ():
        data = data.replace(code, sign).replace(code.lower(), sign)
    if any(space in data for space in " \n\r\t"):
        data = "".join(data.split())
    if media_type.partition("/")[0] in _NOT_SOUNDS:  # of which some begin as images do
        media_type = next((_IMAGES[head] for head in _IMAGES if data.startswith(head)), media_type)
    return Inline(media_type, data)


def at_url(url: str, media_type: str = "") -> Inline | Link:
    """Content at a URL, which may be a data URL of base64."""
    is_inline = (
        url[:5].lower() == "data:" and ";base64" in url[:_MAX_HEAD].partition(",")[0].lower()
    )
    return inline(media_type, url) if is_inline else Link(url, media_type)


_MAX_HEAD = 200
_ESCAPES = {"%2B": "+", "%2F": "/", "%3D": "="}  # those of base64
_NOT_SOUNDS = ("image", "application", "")
_IMAGES = {
    "/9j/": "image/jpeg",
    "iVBORw0KGgo": "image/png",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
IMAGE_TYPES = frozenset(_IMAGES.values())


class PlainText(Struct, frozen=True):
    """A document that is given as its text."""

    text: str


class Link(Struct, frozen=True):
    """A URL that the upstream fetches, never the gateway. `media_type` may be empty."""

    url: str
    media_type: str = ""

    @property
    def is_web(self) -> bool:
        return self.url[:8].lower().startswith(("https://", "http://"))


NOT_WEB = "only http and https links can be sent"
"""Why another link is refused: a vendor could not read it, or must not."""


class UploadedFile(Struct, frozen=True):
    """A file that was uploaded to the caller's vendor before: no other vendor knows it."""


UPLOADED = "the file was uploaded to another vendor"


Source = Inline | PlainText | Link | UploadedFile


class Media(Block):
    """An image, a sound, a video or a document.

    `name` is its file name or title, and `name_place` the place of that in the request; `detail` is
    the resolution of an image for the model ("low", "high", "auto", "" if not given).
    """

    kind: Literal["image", "audio", "video", "document"]
    source: Source
    name: str = ""
    name_place: str = ""
    detail: str = ""


class Signature(Struct, frozen=True):
    """Opaque data that a vendor requires back with the next turn to recognise its reasoning. It may
    only be sent in the language that made it (`language`)."""

    language: str
    value: str


class Reasoning(Block):
    """The model's thoughts. `text` is empty where the vendor hides them.

    A vendor that signs another block than its thoughts (Gemini signs function calls) has the
    signature in the Reasoning before that block.
    """

    text: str = ""
    signature: Signature | None = None


class ToolCall(Block):
    """The model calls a tool. `arguments` is the JSON text of an object, as it was given: key order
    and number text are the vendor's. It is empty for a call without arguments."""

    id: str
    name: str
    arguments: str = ""


class ToolResult(Block):
    """What a tool returned for the call `id`."""

    id: str
    content: list[Block] = []
    is_error: bool = False


class Foreign(Block):
    """A block that other languages lack; `kind` is the vendor's name for it, `raw` its JSON where
    its reader needs that again. `substitute` is an equivalent block, None without one. An
    `omissible` one says nothing outside of its vendor: in an answer a tool that the vendor runs
    itself, and its result; in a request a search, with results that only the vendor can read."""

    kind: str
    raw: Raw = Raw()
    substitute: Block | None = None
    omissible: bool = False


CACHE_MARKS = ("*.cache_control", "*.prompt_cache_breakpoint")
CACHE_MARK_FIELDS = Patterns(CACHE_MARKS)
_FORMS: dict[CacheMark, dict[str, str]] = {
    "5m": {"type": "ephemeral"},
    "1h": {"type": "ephemeral", "ttl": "1h"},
}


def mark(written: Json | None, cache: CacheMark) -> None:
    """Add `cache_control` to a part or a tool, None for none."""
    if cache and written is not None:
        written["cache_control"] = _FORMS[cache]


def read_cache_mark(extra: Extra) -> CacheMark:
    """The mark among unknown members, which stay: only some targets have a form for it."""
    if (control := extra.get("cache_control")) is not None:
        return "1h" if b'"1h"' in bytes(control) else "5m"
    return "5m" if "prompt_cache_breakpoint" in extra else ""


def mark_of(block: Block) -> CacheMark:
    """The mark of a block. Thoughts have none; a result has that of its last marked content."""
    if block.cache:
        return "" if isinstance(block, Reasoning) else block.cache
    if isinstance(block, ToolResult):
        return next((each.cache for each in reversed(block.content) if each.cache), "")
    return ""


SEAL = "modelway:"
NO_SIGNATURE = Signature("unsigned", "")
"""Sealed in place of a signature that an answer lacks and the caller's vendor would want back: the
seal is removed when such a request is relayed."""

Changes = Mapping[JsonPath, bytes | None]
"""New JSON texts of values by their paths; None removes a value."""


def is_mark(thoughts: Reasoning) -> bool:
    """Whether thoughts only mark that an answer had none."""
    return not thoughts.text and thoughts.signature == NO_SIGNATURE


def seal(signature: Signature, language: str) -> str:
    """The text for a caller of `language`: a signature of that language is not sealed."""
    if signature.language == language:
        return signature.value
    return f"{SEAL}{signature.language}:{signature.value}"


def unseal(text: str, language: str) -> Signature:
    """The signature in a text that a caller of `language` has sent back."""
    if text.startswith(SEAL):
        origin, _, value = text.removeprefix(SEAL).partition(":")
        return Signature(origin, value)
    return Signature(language, text)


def is_sealed(text: object) -> bool:
    return isinstance(text, str) and text.startswith(SEAL)


def without_objects(
    holder: object, name: str, place: JsonPath, is_removed: Callable[[Json], bool]
) -> Changes:
    """The changes that remove objects of a list, or the list if it would be empty."""
    removed = [at for at, each in objects(holder, name) if is_removed(each)]
    if removed and isinstance(holder, dict) and len(removed) == len(holder[name]):
        return {(*place, name): None}
    return {(*place, name, at): None for at in removed}


def objects(value: object, name: str) -> list[tuple[int, Json]]:
    """The objects in a list that is a member, with their indexes; none of another value."""
    items = value.get(name) if isinstance(value, dict) else None
    if not isinstance(items, list):
        return []
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]
