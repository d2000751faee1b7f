"""A file of the console as it is sent: read once, compressed once, known by a tag."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
"""What a page may do (CSP 3): nothing from elsewhere, and no script or style in the page itself."""

GUARDS = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
]


@dataclass(frozen=True)
class Asset:
    """Some content and its media type."""

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256(self.content).hexdigest()[:24]

    @cached_property
    def small(self) -> bytes:
        """Compressed, at the first request that takes it so."""
        return gzip.compress(self.content, 6, mtime=0)


def read(path: Path) -> Asset:
    """A file; its name says its media type."""
    return Asset(path.read_bytes(), _TYPES[path.suffix])


def respond(asset: Asset, exchange: Exchange) -> Response:
    """The asset, compressed where that is understood; 304 for who has it already.

    Browsers ask each time whether it is still the same, so that a page and its scripts are always
    of one release.
    """
    packed = _takes_gzip(exchange.header("HTTP_ACCEPT_ENCODING") or "")
    tag = f'"{asset.tag}{"-gz" if packed else ""}"'
    headers = [
        ("etag", tag),
        ("cache-control", "no-cache"),
        ("vary", "accept-encoding"),
        *GUARDS,
    ]
    if _has(exchange.header("HTTP_IF_NONE_MATCH") or "", tag):
        return Response(304, headers)
    headers.append(("content-type", asset.media_type))
    if packed:
        headers.append(("content-encoding", "gzip"))
    return Response(200, headers, asset.small if packed else asset.content)


def fixed(asset: Asset) -> Handler:
    """A handler for an asset that is the same for everybody."""
    return lambda exchange: respond(asset, exchange)


def _has(said: str, tag: str) -> bool:
    """Whether `If-None-Match` names the tag (RFC 9110 13.1.2, weak comparison)."""
    known = [one.strip().removeprefix("W/") for one in said.split(",")]
    return tag in known or "*" in known


def _takes_gzip(said: str) -> bool:
    """Whether `Accept-Encoding` takes gzip; one of weight 0 does not (RFC 9110 12.5.3)."""
    for one in said.lower().split(","):
        coding, _, weight = one.partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
