"""URLs in response headers (Location, Content-Location, Link), rewritten for the caller.

The law: a URL below the upstream's base path becomes the same path below the mount prefix, without
scheme and host, so that it is valid behind any proxy (RFC 9110 10.2.2). A URL that could lead a
browser to another place is removed: the result is None.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from engine.spec.document.path_templates import unsafe

_PLAIN = re.compile(r"[!-\[\]-~]+")  # visible ASCII without a backslash
_PORTS = {"http": 80, "https": 443, "http+unix": 80}
_LINK = re.compile(
    r"""\s*<(?P<address>[^<>"]*)>(?P<rest>(?:\s*;\s*[\w*!-]+(?:\s*=\s*(?:"[^"\\]*"|[^\s";,]+))?)*)\s*"""
)
_MAX_LINKS = 100
_RELATION = re.compile(r"""(?:^|;)\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)

RELATIONS = frozenset(
    {"self", "first", "prev", "previous", "next", "last", "up", "collection", "item", "alternate"}
    | {"canonical", "describedby", "help", "license", "terms-of-service", "deprecation", "sunset"}
    | {"successor-version", "predecessor-version", "latest-version", "service-doc", "service-desc"}
)
"""Relations of a Link that a browser follows only on request. Others may make it load something
(`preload`, `preconnect`, `stylesheet`, `compression-dictionary`)."""


class UpstreamUrl:
    """The URL of an upstream, which rewrites the URLs that are below it."""

    __slots__ = ("_base", "_host", "_port", "_prefix")

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        unix = parts.scheme == "http+unix"
        self._host = "localhost" if unix else _ascii(parts.hostname or "")
        self._port = _port(parts)
        self._base = parts.path.rstrip("/") if parts.netloc else ""
        host = f"[{self._host}]" if ":" in self._host else self._host
        port = "" if unix or parts.port is None else f":{parts.port}"
        self._prefix = f"{'http' if unix else parts.scheme}://{host}{port}"

    def rewrite(self, address: str, path: str, mount: str) -> str | None:
        """`address` for the caller; None if it is not below the upstream's base path.

        A relative address is resolved against `path`, the path of the request. `mount` is the
        prefix of the caller's path that stands for the base path, "/" for a path from the root.
        """
        parts = self._resolve(address, path)
        if parts is None or not self._is_here(parts):
            return None
        base, mount = ("", "") if mount == "/" else (self._base, mount)
        tail = parts.path[len(base) :]
        if not parts.path.startswith(base) or tail[:1] not in ("", "/") or unsafe(tail):
            return None
        result = quote(mount, safe="/%:@!$&'()*+,;=-._~") + tail or "/"
        if result.startswith("//"):  # a browser would read the segment as a host
            return None
        query = f"?{parts.query}" if parts.query else ""
        return result + query + (f"#{parts.fragment}" if parts.fragment else "")

    def rewrite_links(self, header: str, path: str, mount: str) -> str | None:
        """A Link header (RFC 8288) with its URLs rewritten; None if no link is left.

        Links that would make a browser load something, or disclose the upstream, are left out, and
        all behind the first hundred.
        """
        links, at = [], 0
        for _ in range(_MAX_LINKS):
            if at >= len(header):
                break
            link = _LINK.match(header, at)
            if link is None or header[link.end() : link.end() + 1] not in ("", ","):
                return None
            at = link.end() + 1
            relation = _RELATION.search(link["rest"])
            words = (relation[1] or relation[2]).lower().split() if relation else []
            if not words or not RELATIONS.issuperset(words):
                continue
            address = self.rewrite(link["address"], path, mount)
            if address is None and self._is_foreign(link["address"], path):
                address = link["address"]
            if address is not None:
                links.append(f"<{address}>{link['rest']}")
        return ", ".join(links) or None

    def _resolve(self, address: str, path: str) -> SplitResult | None:
        if not _PLAIN.fullmatch(address):
            return None
        try:
            parts = urlsplit(urljoin(self._prefix + path, address))
            _ = parts.port
        except ValueError:
            return None
        return parts if parts.scheme in ("http", "https") and "@" not in parts.netloc else None

    def _is_here(self, parts: SplitResult) -> bool:
        """Whether a URL has the upstream's host, with either scheme: the upstream may be behind a
        proxy that terminates TLS and use http in its URLs."""
        port = _port(parts)
        default = parts.port is None or port == _PORTS[parts.scheme]
        return parts.hostname == self._host and (
            port == self._port or (default and self._port in (80, 443))
        )

    def _is_foreign(self, address: str, path: str) -> bool:
        """Whether it is an absolute URL of another host."""
        parts = self._resolve(address, path)
        return parts is not None and "://" in address and parts.hostname != self._host


def _ascii(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode("ascii")


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)
