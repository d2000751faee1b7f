"""The kinds of requests whose head, names, values or number are at a bound, or beyond it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from benchmarks.serving import BODY, HEADERS
from benchmarks.stall.kind import CHAT, Kind, dumped, small

_CREDENTIALS = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
_FORM = "application/x-www-form-urlencoded"
_MB = 1_000_000
ISSUER = "https://issuer.stall.test"


def _raw(path: str, headers: str = "", method: str = "GET", body: bytes = b"") -> bytes:
    length = f"content-length: {len(body)}\r\n" if body else ""
    head = f"{method} {path} HTTP/1.1\r\nhost: a.test\r\n{_CREDENTIALS}{headers}{length}\r\n"
    return head.encode() + body


def _head(path: str, headers: str = "") -> Callable[[], bytes]:
    """One request, after which the connection closes."""
    return lambda: _raw(path, f"connection: close\r\n{headers}")


def _pipelined(request: bytes, count: int) -> Callable[[], bytes]:
    """Requests that are sent without waiting for the answers."""
    return lambda: (
        request * (count - 1) + request.replace(b"\r\nhost:", b"\r\nconnection: close\r\nhost:", 1)
    )


def _chat(member: bytes) -> Callable[[], bytes]:
    """A chat with a member more."""
    head = b'{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],'
    return lambda: head + member + b"}"


def _names(size: int) -> bytes:
    """Metadata with so long a name."""
    return b'"metadata":{"%b":"x"}' % (b"k" * size)


def _levels(depth: int) -> bytes:
    return b'"metadata":' + b'{"a":' * depth + b"1" + b"}" * depth


def _fields(count: int) -> Callable[[], bytes]:
    return lambda: b"&".join(b"a%d=1" % number for number in range(count))


def _encoded(document: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def _token() -> str:
    """A token of an issuer, by a key that this has not."""
    claims = {"iss": ISSUER, "sub": "a", "aud": "stall", "exp": 4_000_000_000, "iat": 1}
    head = {"alg": "RS256", "kid": "none", "typ": "JWT"}
    return f"{_encoded(head)}.{_encoded(claims)}.{'A' * 342}"


def _claims() -> str:
    """A token with claims of 10 KB in each of many members."""
    return f"{_encoded({'alg': 'RS256', 'kid': 'none'})}.{_encoded({'iss': ISSUER})}.{'A' * 14_000}"


def _bearer(token: str) -> Callable[[], bytes]:
    head = f"POST {CHAT} HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\nauthorization: Bearer "
    end = f"\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n\r\n"
    return lambda: f"{head}{token}{end}".encode() + BODY


def _list_tools() -> bytes:
    return dumped({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})


def _wire(title: str, body: Callable[[], bytes], status: int, gateway: str = "plain") -> Kind:
    return Kind(title, "", body, gateway, status, is_raw=True)


BOUND_KINDS = (
    _wire("100 KB of headers", _head("/v1/models", "x-a: " + "a" * 100_000 + "\r\n"), 431),
    _wire("10,000 headers", _head("/v1/models", "x-a: a\r\n" * 10_000), 431),
    _wire("a query of 1 MB", _head("/v1/models?" + "a=1&" * (_MB // 4)), 414),
    _wire("a path of 100,000 segments", _head("/v1/models" + "/a" * 100_000), 414),
    _wire("a path of 2,000 segments", _head("/v1/models" + "/a" * 2_000), 404),
    _wire("a path of dots", _head("/v1/.." + "/%2e%2e" * 500), 400),
    _wire("a cookie of 64 KB", _head("/v1/models", "cookie: " + "a=b; " * 12_800 + "\r\n"), 431),
    _wire("5,000 lists of models, pipelined", _pipelined(_raw("/v1/models"), 5_000), 200),
    _wire("5,000 refusals, pipelined", _pipelined(_raw("/v1/none"), 5_000), 404),
    _wire("2,000 chats, pipelined", _pipelined(_raw(CHAT, "", "POST", BODY), 2_000), 200),
    _wire("a token of an unknown key", _bearer(_token()), 401, "issuer"),
    _wire("a token of 16 KB", _bearer(_claims()), 401, "issuer"),
    Kind("10,000 levels", CHAT, _chat(_levels(10_000)), status=400),
    Kind("1,000 levels", CHAT, _chat(_levels(1_000)), status=400),
    Kind("a name of 100 KB", CHAT, _chat(_names(100_000))),
    Kind("a name of 1 MB", CHAT, _chat(_names(_MB))),
    Kind("a number of 1 MB", CHAT, _chat(b'"seed":' + b"1" * _MB), status=400),
    Kind("a fraction of 100 KB", CHAT, _chat(b'"temperature":0.' + b"1" * 100_000)),
    Kind("100,000 names of a form", "/odd/form", _fields(100_000), "odd", 400, _FORM),
    Kind("9,000 names of a form", "/odd/form", _fields(9_000), "odd", 200, _FORM),
    Kind("answer: 10,000 tools", "/mcp/many", _list_tools, "wide"),
    Kind("answer: zstd", CHAT, small("gpt-zstd")),
    Kind("answer: zstd, edited", CHAT, small("gpt-zstd"), "judged", 502),
    Kind("answer: 10,000 levels, translated", CHAT, small("claude-levels"), status=502),
    Kind("answer: a name of 10 MB, edited", CHAT, small("gpt-long-name"), "judged"),
    Kind("answer: a number of 1 MB, edited", CHAT, small("gpt-long-number"), "judged"),
)
