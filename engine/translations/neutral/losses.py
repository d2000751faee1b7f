"""The parts of a request that a translation cannot carry: refused, or dropped and reported; and the
size of what it writes: at most four times the caller's request and 1 MB more.

Every writer of requests encodes with `encode_request`. What can grow without an object of its own
in the caller's request (references, names that are repeated) is checked where it grows, before
anything of that size is in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from msgspec import Struct

from engine.translations.neutral.content import (
    NOT_WEB,
    UPLOADED,
    Block,
    Foreign,
    Link,
    Media,
    UploadedFile,
)
from engine.translations.neutral.json_members import WrongType, encode
from engine.translations.neutral.request import BuiltInTool, ChatRequest
from engine.values.trees import Json
from engine.values.wildcard import Patterns

_INDEX = re.compile(r"\[\d+\]")
_MAX_PLACE = 200
_MAX_FIELDS = 20
_SAFE = "".join(map(chr, range(0x21, 0x7F))).replace(",", "").replace("%", "")
_PLAIN = re.compile(rf"[a-zA-Z0-9_.\[\]-]{{0,{_MAX_PLACE}}}")
"""Nearly every place."""

_CUT_ESCAPE = re.compile(r"%.?$")


def visible_place(place: str) -> str:
    """A place, escaped for headers and messages, because callers choose the names in it: other than
    visible ASCII characters, commas and `%` are percent-encoded, and it is cut after 200 characters
    with "..."."""
    if _PLAIN.fullmatch(place):
        return place
    text = quote(place[: _MAX_PLACE + 1], safe=_SAFE, errors="replace")
    if len(text) <= _MAX_PLACE:
        return text
    return _CUT_ESCAPE.sub("", text[:_MAX_PLACE]) + "..."


class Loss(Struct, frozen=True):
    """A part of a request that the target has no form for. A `hint` changes no answer (only cost,
    speed or bookkeeping), so it is dropped and reported even if nothing else may be."""

    place: str
    reason: str = ""
    hint: bool = False

    @property
    def field(self) -> str:
        """The place without indexes: `messages[2].name` -> `messages.name`."""
        return _INDEX.sub("", self.place)


class Losses(Struct):
    """The losses of one translation, in their order. `hints` are fields of the caller's language
    that are hints. `remainder_error`: the turns that remain are not a valid conversation."""

    hints: Patterns
    losses: list[Loss] = []
    remainder_error: WrongType | None = None
    _withdrawn: list[Patterns] = []

    def add(self, place: str, reason: str = "", *, hint: bool = False) -> None:
        loss = Loss(place, reason, hint)
        if not hint and self.hints.match(loss.field):
            loss = Loss(place, reason, True)
        self.losses.append(loss)

    def add_block(self, block: Block, reason: str = "") -> None:
        """Add a block that the target has no form for."""
        hint = isinstance(block, Foreign) and block.omissible
        self.add(block.place, reason or _why_not(block), hint=hint)

    def add_tool(self, tool: BuiltInTool) -> None:
        """Add a tool that only the vendor of another model runs."""
        self.add(tool.place, f"the tool '{tool.name}' is run by another vendor")

    def add_prefill(self, place: str) -> None:
        """Add the beginning of an answer at a place, which the model is to continue."""
        self.add(place, "the model does not continue an assistant's turn")

    def add_detail(self, media: Media) -> None:
        """Add the resolution of an image, unless none is wanted."""
        if media.detail not in ("", "auto"):
            place = f"{media.place}.detail"
            self.add(place, "the resolution of images cannot be chosen", hint=True)

    def withdraw(self, fields: Patterns) -> None:
        """The target has a form for these fields after all. A second call does nothing."""
        if not any(fields is withdrawn for withdrawn in self._withdrawn):
            self._withdrawn.append(fields)
            self.losses = [loss for loss in self.losses if not fields.match(loss.field)]

    def refusals(self, drop: Patterns) -> list[Loss]:
        """The first loss of each field that is neither a hint nor covered by `drop`."""
        fields: dict[str, Loss] = {}
        for loss in self.losses:
            if not loss.hint:
                fields.setdefault(loss.field, loss)
        return [loss for field, loss in fields.items() if not drop.match(field)]

    def fields(self) -> list[str]:
        """The fields that were lost, each once and as `visible_place` writes it: the first 20, then
        the number of the others as "and 3 more"."""
        if not self.losses:
            return []
        fields = list(dict.fromkeys(visible_place(loss.field) for loss in self.losses))
        more = len(fields) - _MAX_FIELDS
        return fields if more <= 0 else [*fields[:_MAX_FIELDS], f"and {more} more"]


def _why_not(block: Block) -> str:
    """Why a target has no form for a block."""
    if isinstance(block, Foreign):
        return f"a block '{block.kind}' is another vendor's"
    if isinstance(block, Media) and isinstance(block.source, UploadedFile):
        return UPLOADED
    if isinstance(block, Media):
        if isinstance(block.source, Link) and not block.source.is_web:
            return NOT_WEB
        form = " by URL" if isinstance(block.source, Link) else ""
        return f"the upstream takes no {block.kind}{form} here"
    return "the upstream has no form for it"


FACTOR, SPARE = 4, 1_000_000

_ENCODED_AT_ONCE = 65_536
"""The largest request, in bytes, whose translation is encoded in one step: its objects are so few
that what is added to each of them is a few megabytes at most."""

_BATCH = 64
_MAX_DEPTH = 3
"""Items that are encoded in one step, and levels of objects and lists that are encoded apart."""


class TooLarge(ValueError):
    """The member at `place` would make the translated request larger than `most` bytes; `detail`
    says why and what to do, as a sentence."""

    def __init__(self, place: str, most: int, detail: str = "") -> None:
        super().__init__(f"'{place}' becomes too large")
        self.place, self.most, self.detail = place, most, detail


def most_bytes(size: int) -> int:
    """The most bytes that the translation of a request of `size` bytes may have."""
    return FACTOR * size + SPARE


def check_written(written: bytes, size: int, place: str) -> None:
    """A language need not be part of the gateway. Raises TooLarge."""
    if len(written) > (most := most_bytes(size)):
        raise TooLarge(place, most)


_FIELDS = {
    **dict.fromkeys(("messages", "contents", "input"), "messages"),
    **dict.fromkeys(("generationConfig", "response_format", "text", "output_config"), "output"),
    "outputConfig": "output",
    "toolConfig": "tools",
    "stop_sequences": "stop",
}
"""Fields of the neutral form by the members of the languages that hold them."""

_SYSTEM = ("system", "instructions", "systemInstruction")


def encode_chat(document: Json, request: ChatRequest) -> bytes:
    """The JSON of a chat request for a target. Raises TooLarge."""

    def place_of(member: str) -> str:
        if member in _SYSTEM and request.system:
            return request.system[0].place
        return request.place_of(_FIELDS.get(member, member))

    return encode_request(document, request.size, place_of)


def encode_request(document: Json, size: int, place_of: Callable[[str], str] = str) -> bytes:
    """The JSON of a request for a target, for a caller's request of `size` bytes. `place_of`
    returns where the caller wrote a member of the document. Raises TooLarge, before more than the
    most and one batch is encoded."""
    if size <= _ENCODED_AT_ONCE and len(text := encode(document)) <= SPARE:
        return text  # nearly always
    most, size_so_far = most_bytes(size), 0
    pieces: list[bytes] = []
    for piece in _pieces(document, 0):
        pieces.append(piece)
        size_so_far += len(piece)
        if size_so_far > most:
            del pieces, piece  # they are large, and so is what is measured now
            raise TooLarge(place_of(_largest(document, most)), most)
    return b"".join(pieces)


def _largest(document: Json, most: int) -> str:
    """The member with the most bytes, or the first that has more than the most."""
    sizes: dict[str, int] = {}
    for name, value in document.items():
        sizes[name] = 0
        for piece in _pieces(value, 1):
            sizes[name] += len(piece)
            if sizes[name] > most:
                return name
    return max(sizes, key=sizes.__getitem__)


def _pieces(value: object, depth: int) -> Iterator[bytes]:
    """The JSON of a value, piece by piece."""
    if depth > _MAX_DEPTH or not value or not isinstance(value, dict | list):
        yield encode(value)
    elif isinstance(value, dict):
        separator = b"{"
        for name, each in value.items():
            yield separator + encode(name) + b":"
            yield from _pieces(each, depth + 1)
            separator = b","
        yield b"}"
    elif len(value) > _BATCH:
        separator = b"["
        for at in range(0, len(value), _BATCH):
            yield separator
            yield encode(value[at : at + _BATCH])[1:-1]
            separator = b","
        yield b"]"
    else:
        separator = b"["
        for each in value:
            yield separator
            yield from _pieces(each, depth + 1)
            separator = b","
        yield b"]"
