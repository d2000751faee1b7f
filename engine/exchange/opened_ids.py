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
class OpenedIds:
    """The ids of one request. `owner` is that of the caller; `holder` is where its objects live,
    None if it names none, and `kind` is that of the first of them. `names` has the sealed id of
    each vendor's id; `credentials` the credential of each attempt, by its number; `sealer` seals
    what the last response of a list has."""

    owner: bytes
    holder: Holder | None = None
    kind: str = ""
    names: dict[str, str] = field(default_factory=dict)
    credentials: dict[int, Any] = field(default_factory=dict)
    sealer: Any = None
