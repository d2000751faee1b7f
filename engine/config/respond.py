"""`respond:` of routes: a response that the gateway gives itself."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.values.trees import Section


class Respond(Struct, frozen=True):
    """A response: its `status`, its `headers` with names in lower case, and its `body`: a text, or
    a value that is sent as JSON. Without a body (`has_body`), an error has the form of the
    operation's dialect, and any other response is empty."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    has_body: bool = False

    def __hash__(self) -> int:
        return hash((self.status, self.headers))  # a body may be a mapping


def read_respond(section: Section) -> Respond:
    """The value of `respond`."""
    headers = section.get("headers", {}).items()
    return Respond(
        section["status"],
        tuple((name.lower(), str(value)) for name, value in headers),
        section.get("body"),
        "body" in section,
    )
