"""Files of the console, read once, compressed once, with an entity tag; and the data of pages."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from engine.exchange.exchange import Exchange, Handler, Response

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data: blob:",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
POLICY = "; ".join(f"{name} {value}" for name, value in _POLICY.items())
"""The Content-Security-Policy (CSP 3): same origin only, and no inline script or style."""

GUARDS = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
]
_DATA_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]


@dataclass(frozen=True)
class Asset:
    """Content and its media type."""

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256(self.content).hexdigest()[:24]

    @cached_property
    def compressed(self) -> bytes:
        """The content compressed with gzip, at the first request that accepts it."""
        return gzip.compress(self.content, 6, mtime=0)


def read(path: Path) -> Asset:
    """Read a file; its suffix gives the media type."""
    return Asset(path.read_bytes(), _TYPES[path.suffix])


def respond(asset: Asset, exchange: Exchange) -> Response:
    """The asset, compressed if the client accepts gzip; 304 if the client already has it.

    Browsers revalidate it each time, so that a page and its scripts are of the same release.
    """
    gzipped = _accepts_gzip(exchange.header("HTTP_ACCEPT_ENCODING") or "")
    tag = f'"{asset.tag}{"-gz" if gzipped else ""}"'
    headers = [
        ("etag", tag),
        ("cache-control", "no-cache"),
        ("vary", "accept-encoding"),
        *GUARDS,
    ]
    if _matches(exchange.header("HTTP_IF_NONE_MATCH") or "", tag):
        return Response(304, headers)
    headers.append(("content-type", asset.media_type))
    if gzipped:
        headers.append(("content-encoding", "gzip"))
    return Response(200, headers, asset.compressed if gzipped else asset.content)


def json_response(content: bytes) -> Response:
    """The data that a page asks for, as JSON."""
    return Response(200, [*_DATA_HEADERS], content)


def fixed(asset: Asset) -> Handler:
    """A handler for an asset that is the same for every client."""
    return lambda exchange: respond(asset, exchange)


def file(path: Path) -> Handler:
    """A handler for a file, which is read at its first request: Swagger UI would take 1.2 MB of
    every worker."""

    @cache
    def asset() -> Asset:
        return read(path)

    return lambda exchange: respond(asset(), exchange)


def _matches(if_none_match: str, tag: str) -> bool:
    """Whether `If-None-Match` names the tag (RFC 9110 13.1.2, weak comparison)."""
    tags = [entry.strip().removeprefix("W/") for entry in if_none_match.split(",")]
    return tag in tags or "*" in tags


def _accepts_gzip(accept_encoding: str) -> bool:
    """Whether `Accept-Encoding` accepts gzip; with weight 0 it does not (RFC 9110 12.5.3)."""
    for entry in accept_encoding.lower().split(","):
        coding, _, weight = entry.partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
