"""The objects that a request names: what its sealed ids said, and where those objects live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Holder(NamedTuple):
    """Where an object lives: the name of the upstream, and the index of its credential there."""

    upstream: str
    credential: int = 0


@dataclass(slots=True)
class Turn:
    """A request of the Responses API in a gateway that keeps responses. `items` are those of the
    whole conversation up to its answer, as they stand in `input`; None if the answer is not kept.
    `previous` is the id of the response that the gateway has put in front, "" for none."""

    items: bytes | None
    previous: str = ""


@dataclass(slots=True)
class Batch:
    """A batch whose requests are judged one by one. `upstreams` are the names of those that may get
    it: after its first request the one that does. `models` has the name that callers have for each
    of its models by that of the vendor. `holder` is where the objects that its requests name live,
    and `kind` that of the first of them; `operation` is that of its first request. `size` is the
    number of its requests, `reports` says what is wrong with some that pass nevertheless, and
    `report_count` counts those."""

    upstreams: tuple[str, ...]
    models: dict[str, str] = field(default_factory=dict)
    holder: Holder | None = None
    kind: str = ""
    operation: str = ""
    size: int = 0
    reports: list[str] = field(default_factory=list)
    report_count: int = 0


class Upload(NamedTuple):
    """An upload: the owner of its sealed address, in 8 bytes, and that address."""

    owner: bytes
    address: str


@dataclass(slots=True)
class OpenedIds:
    """The ids of one request. `owner` is that of the caller; `holder` is where its objects live,
    None if it names none, and `kind` is that of the first of them. `names` has the sealed id of
    each vendor's id; `sealer` seals what the last response of a list has. `batch` are the requests
    that it brings for later, None if it is no batch. `upload` is one whose last piece is kept, None
    for none. `creates`: its response may have ids to seal."""

    owner: bytes
    holder: Holder | None = None
    kind: str = ""
    names: dict[str, str] = field(default_factory=dict)
    sealer: Any = None
    batch: Batch | None = None
    upload: Upload | None = None
    creates: bool = True
