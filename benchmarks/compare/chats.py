"""The chats that are sent: without tools, with tools, and a large one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from benchmarks.chat import CHAT
from benchmarks.stall.kinds import MANY

_TURNS = ("What is the weather like in Oslo this afternoon?", "Snow, and four degrees below zero.")

TOOLS: dict[str, Any] = {k: v for k, v in CHAT.items() if not k.startswith("stream")}
PLAIN: dict[str, Any] = {
    "model": TOOLS["model"],
    "messages": [
        TOOLS["messages"][0],
        *(
            {"role": role, "content": content}
            for _ in range(4)
            for role, content in zip(("user", "assistant"), _TURNS, strict=True)
        ),
        {"role": "user", "content": "And tomorrow? Say it in verse."},
    ],
    "temperature": TOOLS["temperature"],
    "max_tokens": TOOLS["max_tokens"],
}
CHATS = {"plain": PLAIN, "tools": TOOLS}
"""By name. In each the load generator replaces `in verse.` by words of different lengths."""


def write(folder: Path) -> dict[str, Path]:
    """A file for the body of each chat, by its name."""
    paths = {name: folder / f"{name}.json" for name in CHATS}
    for name, path in paths.items():
        path.write_bytes(orjson.dumps(CHATS[name]))
    return paths


def large() -> bytes:
    """A chat of 10 MB, most of it one image."""
    return MANY.body()
