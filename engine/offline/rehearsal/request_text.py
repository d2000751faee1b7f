"""A request as people write it down: a header may be left out where it goes without saying."""

from __future__ import annotations

import orjson

from engine.offline.rehearsal.observation import Pairs, Request


def request(
    method: str, target: str, headers: Pairs, body: bytes, address: str = "127.0.0.1"
) -> Request:
    """The request; a body that is JSON, or was to be an object or a list, gets its
    Content-Type when it has none."""
    told = any(name.lower() == "content-type" for name, _ in headers)
    if body and not told and _is_json(body):
        headers = [*headers, ("content-type", "application/json")]
    return Request(method, target, tuple(headers), body, address)


def _is_json(body: bytes) -> bool:
    if body.lstrip()[:1] in (b"{", b"["):
        return True  # a slip in it is to be told, not that its type is missing
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True
