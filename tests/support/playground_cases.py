"""The cases of `tests/cases/playground`: a stream in each chat format, as the vendors send it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support import paths, yaml_text

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CASES = sorted((paths.CASES / "playground").glob("*.yaml"))


def case(file: Path) -> dict[str, Any]:
    read = yaml_text.load(file.read_text("utf-8"))
    assert isinstance(read, dict)
    return read


def streamed(events: Sequence[Any]) -> bytes:
    """Events as bytes, with `event:` lines where they have a type (Anthropic, OpenAI)."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(lines).encode()
