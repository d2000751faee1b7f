"""`respond:` of routes: a response that the gateway gives itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.values.trees import Section


@dataclass(frozen=True, slots=True)
class Respond:
    """A response: its `status`, its `headers` with names in lower case, and its `body`: a text, or
    a value that is sent as JSON. Without a body (`has_body`), an error has the form of the
    operation's dialect, and any other response is empty."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = field(default=None, hash=False)
    has_body: bool = field(default=False, metadata={"key": "body"})


def read_respond(section: Section) -> Respond:
    """The value of `respond`."""
    headers = section.get("headers", {}).items()
    return Respond(
        section["status"],
        tuple((name.lower(), str(value)) for name, value in headers),
        section.get("body"),
        "body" in section,
    )
