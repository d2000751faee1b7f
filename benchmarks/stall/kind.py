"""A kind of requests, and what several of them need."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from engine.config.keys import default

SIZE = 20_000_000
"""Bytes of a request's body."""

NOT_LARGE = default("server.heavy.above") * 19 // 20
"""Bytes of a request that is just not passed to a heavy worker."""

CHAT = "/v1/chat/completions"
FORM = "multipart/form-data; boundary=b"


class Kind(NamedTuple):
    """A request by its name: where it goes, its body, the gateway (`gateways.py`), the status of
    its answer and the media type. With status 101 the body is a message over a WebSocket, in so
    many frames, or compressed (`deflate`); `first` is a message before it, which begins the
    session. `is_raw`: the body is all that is sent, heads included, until the gateway closes."""

    name: str
    path: str
    body: Callable[[], bytes]
    gateway: str = "plain"
    status: int = 200
    media_type: str = "application/json"
    method: str = "POST"
    frames: int = 1
    deflate: bool = False
    first: bytes = b""
    is_raw: bool = False


def dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


def chat(model: str, content: Any, **more: Any) -> bytes:
    return dumped({"model": model, "messages": [{"role": "user", "content": content}], **more})


def small(model: str, **more: Any) -> Callable[[], bytes]:
    """A small request for a large answer, by the name of the model."""
    return lambda: chat(model, "Hello!", **more)
