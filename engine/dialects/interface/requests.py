"""The members of requests that usage is estimated by, and the option to report it in streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.values.json_edit import Buffer
from engine.values.takes import OutputFields

Edit = tuple[int, int, bytes]
"""Start and end of the replaced part of a body, and its replacement."""


@dataclass(frozen=True, slots=True)
class CountedField:
    """`member` is counted in the requests of an operation whose schema has it and all of
    `beside`."""

    member: str
    beside: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFields:
    """What a dialect's requests contain. `output` bounds the answer in tokens; the text in `speech`
    is read aloud, and paid by the character; `images` is the number of images to be drawn."""

    output: OutputFields = field(default_factory=OutputFields)
    speech: CountedField | None = None
    images: CountedField | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageOption:
    """How a dialect asks for usage in a stream. Every function is pure.

    An operation has the option where a request's schema has the member `path`, and the events of
    its streams have the member `chunk_member`. `enable` returns the change to a JSON body, parsed
    as a value, that sets the option: None where it is set, or there is no stream. `hide` removes
    from clean events the one that only reports usage, for callers that did not set it;
    `key` occurs in such an event.
    """

    path: tuple[str, str]
    chunk_member: str
    key: bytes
    enable: Callable[[Buffer, Any], Edit | None]
    hide: Callable[[bytes], bytes]
