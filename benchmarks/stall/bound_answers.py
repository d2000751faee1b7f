"""Answers of the upstream with names, numbers or levels beyond a bound, by the name of the model
or by their path. Each of a model is all bytes of a response; the connection ends with it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache

from benchmarks.stall.answers import SIZE, TEXT

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n%b\r\n"
_CHAT = b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[],%b}'
_MESSAGE = b'{"id":"m","type":"message","role":"assistant","model":"m","content":[],%b}'


def _json(text: bytes, member: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([_HEAD % b"" + text % member])


def _zstd() -> Iterator[bytes]:
    yield _HEAD % b"content-encoding: zstd\r\n" + random.Random(1).randbytes(SIZE)


@cache
def many_tools() -> bytes:
    """A page of 10,000 tools, 4 MB."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": TEXT}}}
    tools = [
        {"name": f"tool_{number}", "description": TEXT * 3, "inputSchema": schema}
        for number in range(10_000)
    ]
    return json.dumps({"tools": tools}).encode()


def keys() -> bytes:
    """A set of as many keys as fit into the largest one that is read, each of 4,096 bits."""
    numbers = random.Random(1)
    key = {"kty": "RSA", "e": "AQAB", "alg": "RS256", "use": "sig", "x": "a" * 4_000}
    return json.dumps(
        {
            "keys": [
                {**key, "kid": f"k{n}", "n": f"{numbers.getrandbits(2_000):x}"} for n in range(100)
            ]
        }
    ).encode()


_LEVELS = b'"a":' + b"[" * 10_000 + b"]" * 10_000
_NUMBER = b'"a":' + b"1" * 1_000_000
_NAME = b'"%b":1' % (b"k" * 10_000_000)

BOUNDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "gpt-zstd": _zstd,
    "claude-levels": _json(_MESSAGE, _LEVELS),
    "gpt-long-name": _json(_CHAT, _NAME),
    "gpt-long-number": _json(_CHAT, _NUMBER),
}
"""The bytes of each answer."""
