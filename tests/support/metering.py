"""Readers of usage, fed with responses of a dialect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine import dialects
from engine.metering.readers import Reader, reader
from engine.values.usage import Usage
from tests.support import paths

SSE, JSON = "text/event-stream", "application/json"
ESTIMATE = Usage(input=40, output=1000, characters=0, source="estimated")
CASES = sorted((paths.CASES / "usage").glob("*.sse"))
"""Streams that begin with a comment: JSON with their dialect and the usage to be read."""


def case(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """The comment of a case, and its events."""
    head, *events = path.read_bytes().removesuffix(b"\n\n").split(b"\n\n")
    return json.loads(head[1:]), [event + b"\n\n" for event in events]


def upstream_usage(members: dict[str, Any] | None) -> Usage | None:
    """The usage of a case, as an upstream reports it."""
    return None if members is None else Usage(**members, source="upstream")


def read(dialect: str, pieces: Iterable[bytes], media_type: str = SSE) -> Reader:
    """A reader that has been fed these pieces."""
    usage_reader = reader(dialects.get(dialect).meter, media_type)
    for piece in pieces:
        usage_reader.feed(piece)
    return usage_reader
