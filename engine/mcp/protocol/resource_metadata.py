"""Where clients learn who issues tokens for an MCP server: protected resource metadata (RFC 9728),
which MCP's authorization asks for (revision 2026-07-28, basic/authorization).

It is there if callers have issuers (`callers.jwt`), and a 401 names its address.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""In front of the path of the resource (RFC 9728 3.1)."""


def metadata_path(path: str) -> str:
    """The path of the metadata of a server at `path`."""
    return WELL_KNOWN + path.rstrip("/")


def metadata(resource: str, name: str, issuers: Sequence[str]) -> bytes:
    """The JSON of the metadata of a server with this URL; `issuers` are those of its tokens."""
    return orjson.dumps(
        {
            "resource": resource,
            "resource_name": name,
            "authorization_servers": [*dict.fromkeys(issuers)],
            "bearer_methods_supported": ["header"],
        }
    )


def challenge(url: str) -> tuple[str, str]:
    """The header of a 401 that names the URL of the metadata (RFC 9728 5.1)."""
    return "www-authenticate", f'Bearer resource_metadata="{url}"'
