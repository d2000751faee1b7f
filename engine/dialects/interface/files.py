"""How an API describes files, and takes them in: what copying one from another vendor needs; and
how it writes batches, many requests in one, whose results are read later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.values.json_spans import JsonPath
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


class BatchResult(NamedTuple):
    """The result of one request of a batch: the `name` that its caller gave it, "" for none, the
    HTTP `status` that it would have had, and its `answer` with the path of it in the result, None
    if it has none."""

    name: str
    status: int
    answer: object = None
    at: JsonPath = ()


class BatchFormat(NamedTuple):
    """The batches of a dialect. Every function is pure.

    Requests: `requests` is the path of their list in a JSON body; without it they are the lines of
    the `file` of a form whose field `purpose` is one of `purposes`. A request has at `name` what
    its caller calls it (unless `is_named` is false, then it may lack it), and at `body` what its
    operation gets; `method` and `url` name that operation. Without a `url` it is the one whose path
    `path` makes of that of the batch.

    With `stored` a JSON body may name a file at this path in place of the list, which was uploaded
    before; its lines have a name at `stored_name`.

    Results: `lists` are the paths of their lists in a JSON body; other responses have them as lines
    of JSON. `result` reads one. `files` returns the ids of the files with results of an object that
    a response shows, a batch or a file; `id` is the member with the object's own id, `model` that
    of an answer with the name of its model.
    """

    name: tuple[str, ...]
    body: tuple[str, ...]
    result: Callable[[Json], BatchResult]
    is_named: bool = True
    requests: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    stored_name: tuple[str, ...] = ()
    file: str = ""
    purpose: str = ""
    purposes: Sequence[str] = ()
    method: str = ""
    url: str = ""
    path: Callable[[str], str] = str
    lists: Sequence[tuple[str, ...]] = ()
    files: Callable[[Json], Sequence[str]] = lambda value: ()
    id: str = "id"
    model: str = "model"
