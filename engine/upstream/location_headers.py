"""Addresses in response headers (Location, Content-Location, Link): from the upstream's to ours.

The law: an address below the upstream's base path becomes the same path below the mount prefix,
without scheme and host, so that it holds behind any proxy (RFC 9110 10.2.2 allows it). Whatever
could lead a browser elsewhere is not written: None.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from engine.spec.path_templates import unsafe

_PLAIN = re.compile(r"[!-\[\]-~]+")  # visible ASCII without a backslash
_PORTS = {"http": 80, "https": 443, "http+unix": 80}
_LINK = re.compile(
    r"""\s*<(?P<address>[^<>"]*)>(?P<rest>(?:\s*;\s*[\w*!-]+(?:\s*=\s*(?:"[^"\\]*"|[^\s";,]+))?)*)\s*"""
)
_RELATION = re.compile(r"""(?:^|;)\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)

RELATIONS = frozenset(
    {"self", "first", "prev", "previous", "next", "last", "up", "collection", "item", "alternate"}
    | {"canonical", "describedby", "help", "license", "terms-of-service", "deprecation", "sunset"}
    | {"successor-version", "predecessor-version", "latest-version", "service-doc", "service-desc"}
)
"""Relations of a Link that a browser follows only when somebody asks it to. All others may make it
load something (`preload`, `preconnect`, `stylesheet`, `compression-dictionary`)."""


class UpstreamUrl:
    """The URL of an upstream, to tell the addresses that point into it."""

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
        """`address` as a caller can use it; None where it does not point into the upstream.

        `path` is the path that was asked for, against which a relative address is resolved, and
        `mount` the prefix under which callers know the upstream's base path.
        """
        parts = self._resolved(address, path)
        if parts is None or not self._is_here(parts):
            return None
        rest = parts.path[len(self._base) :]
        if not parts.path.startswith(self._base) or rest[:1] not in ("", "/") or unsafe(rest):
            return None
        made = quote(mount, safe="/%:@!$&'()*+,;=-._~") + rest or "/"
        if made.startswith("//"):  # it would name a host
            return None
        query = f"?{parts.query}" if parts.query else ""
        return made + query + (f"#{parts.fragment}" if parts.fragment else "")

    def rewrite_links(self, header: str, path: str, mount: str) -> str | None:
        """A Link header (RFC 8288) with its addresses moved, without those that would make a
        browser load something or tell where the upstream is; None where nothing is left."""
        kept, at = [], 0
        while at < len(header):
            found = _LINK.match(header, at)
            if found is None or header[found.end() : found.end() + 1] not in ("", ","):
                return None
            at = found.end() + 1
            relation = _RELATION.search(found["rest"])
            words = (relation[1] or relation[2]).lower().split() if relation else []
            if not words or not RELATIONS.issuperset(words):
                continue
            address = self.rewrite(found["address"], path, mount)
            if address is None and self._is_foreign(found["address"], path):
                address = found["address"]
            if address is not None:
                kept.append(f"<{address}>{found['rest']}")
        return ", ".join(kept) or None

    def _resolved(self, address: str, path: str) -> SplitResult | None:
        if not _PLAIN.fullmatch(address):
            return None
        try:
            parts = urlsplit(urljoin(self._prefix + path, address))
            _ = parts.port
        except ValueError:
            return None
        return parts if parts.scheme in ("http", "https") and "@" not in parts.netloc else None

    def _is_here(self, parts: SplitResult) -> bool:
        """Whether it names the upstream's host, by either scheme: the upstream may stand behind
        something that ends TLS and not know of it."""
        port = _port(parts)
        default = parts.port is None or port == _PORTS[parts.scheme]
        return parts.hostname == self._host and (
            port == self._port or (default and self._port in (80, 443))
        )

    def _is_foreign(self, address: str, path: str) -> bool:
        """Whether it is a whole address of somebody else."""
        parts = self._resolved(address, path)
        return parts is not None and "://" in address and parts.hostname != self._host


def _ascii(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode("ascii")


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)
