"""AWS Signature Version 4 of a request, in its header Authorization.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

The signature covers the method, the path and query as they are sent, the body, the Host header and
all other headers except those that a connection or a proxy may change. The path is encoded once
more, as all services but S3 expect it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import digest
from posixpath import normpath
from urllib.parse import quote, unquote_to_bytes

from engine.values.upstream_request import Spool, UpstreamRequest

_ALGORITHM = "AWS4-HMAC-SHA256"
_NOT_SIGNED = frozenset(
    {"baggage", "connection", "content-length", "expect", "keep-alive", "te", "traceparent"}
    | {"tracestate", "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id"}
)
_SIGNATURE_HEADERS = frozenset({"authorization", "x-amz-date", "x-amz-security-token"})
_SPACES = re.compile(" +")
_PIECE = 1_000_000


@dataclass(frozen=True, slots=True)
class Keys:
    """An access key; `session_token` is that of temporary keys, "" for others."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


def sign(
    request: UpstreamRequest,
    keys: Keys,
    region: str,
    service: str,
    now: float,
    pause: Callable[[], object] = lambda: None,
) -> None:
    """Sign a request at `now`, in Unix seconds: set the headers of the signature, in place of those
    that the request has.

    `pause` is called after each MB of a body that is not in memory.
    """
    timestamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    headers = [pair for pair in request.headers if pair[0] not in _SIGNATURE_HEADERS]
    headers.append(("x-amz-date", timestamp))
    if keys.session_token:
        headers.append(("x-amz-security-token", keys.session_token))
    fields = _signed_headers([("host", request.host), *headers])
    names = ";".join(fields)
    canonical = "\n".join(
        (
            request.method,
            _canonical_path(request.path),
            _canonical_query(request.query),
            "".join(f"{name}:{value}\n" for name, value in fields.items()),
            names,
            _body_hash(request.body, pause),
        )
    )
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join((_ALGORITHM, timestamp, scope, sha256(canonical.encode()).hexdigest()))
    key = _signing_key(keys.secret_key, timestamp[:8], region, service)
    signature = digest(key, to_sign.encode(), "sha256").hex()
    credential = f"Credential={keys.access_key}/{scope}"
    value = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    request.headers[:] = [*headers, ("authorization", value)]


def _signing_key(secret_key: str, date: str, region: str, service: str) -> bytes:
    key = digest(f"AWS4{secret_key}".encode(), date.encode(), "sha256")
    for part in (region, service, "aws4_request"):
        key = digest(key, part.encode(), "sha256")
    return key


def _signed_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values of the signed headers by name, sorted; repeated ones joined, spaces collapsed."""
    fields: dict[str, str] = {}
    for name, value in sorted(headers, key=lambda pair: pair[0]):
        if name not in _NOT_SIGNED:
            text = _SPACES.sub(" ", value.strip())
            fields[name] = f"{fields[name]},{text}" if name in fields else text
    return fields


def _canonical_path(path: str) -> str:
    """The path without dot segments and empty ones, encoded once more."""
    normal = normpath(path).replace("//", "/", 1) if path else "/"
    if path.endswith("/") and normal != "/":
        normal += "/"
    return quote(normal, safe="/~")


def _canonical_query(query: str) -> str:
    """The pairs, with normalized percent-encoding, sorted."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return "&".join(f"{n}={v}" for n, v in sorted((_code(n), _code(v)) for n, _, v in pairs))


def _code(text: str) -> str:
    return quote(unquote_to_bytes(text.encode("latin-1")), safe="-_.~")


def _body_hash(body: bytes | Spool | None, pause: Callable[[], object]) -> str:
    if body is None or isinstance(body, bytes):
        return sha256(body or b"").hexdigest()
    body_hash, unpaused = sha256(), 0
    for chunk in body.chunks():
        body_hash.update(chunk)
        unpaused += len(chunk)
        if unpaused >= _PIECE:
            unpaused = 0
            pause()
    return body_hash.hexdigest()
