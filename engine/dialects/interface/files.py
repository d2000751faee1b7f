"""How an API describes files, and takes them in: what copying one from another vendor needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.values.trees import Json

Pairs = Sequence[tuple[str, str]]
"""Header fields in order."""


class FileFacts(NamedTuple):
    """What a vendor says of a file: its name, its media type, and its size in bytes."""

    name: str
    media_type: str
    size: int = 0


class FileUpload(NamedTuple):
    """The first request of an upload: a form with these `fields` before the file, or, without a
    `part` for it, a JSON `body` that is answered with an address for the bytes."""

    headers: Pairs = ()
    fields: Mapping[str, str] = {}
    part: str = ""
    body: Json = {}


class Piece(NamedTuple):
    """What a request of an upload brings: bytes of the file from an `offset` on, the last ones or
    not."""

    offset: int
    is_last: bool


def _no_piece(header: Callable[[str], str]) -> Piece | None:
    return None


class FileFormat(NamedTuple):
    """The files of a dialect. Every function is pure.

    `facts` reads what the API says of a file, `upload` makes the first request of an upload. With
    an `address`, the header of its response that has one, the bytes follow, with the headers
    `piece`. `id` is the path of the id in the last response. Where requests name a file by a URL,
    `url` stands before its id. The vendor forgets a file after `lifetime` seconds, None for never.
    `read_piece` reads what a request of an upload brings by its headers, None for no bytes.
    """

    facts: Callable[[Json], FileFacts]
    upload: Callable[[FileFacts], FileUpload]
    id: tuple[str, ...] = ("id",)
    headers: Pairs = ()
    query: Mapping[str, str] = {}
    address: str = ""
    piece: Pairs = ()
    url: str = ""
    lifetime: float | None = None
    read_piece: Callable[[Callable[[str], str]], Piece | None] = _no_piece


def text_of(value: object, default: str = "") -> str:
    """A text of a vendor's answer; the default for anything else."""
    return value if isinstance(value, str) and value else default


def size_of(value: object) -> int:
    """A number of bytes, which some vendors write as a text; 0 for anything else."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and value > 0 else 0
