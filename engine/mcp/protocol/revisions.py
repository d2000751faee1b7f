"""The revisions of MCP, and what a request's head must say in each.

Since 2026-07-28 each request names its revision, and has headers that repeat its body. Before it,
`initialize` negotiates a revision; later requests name it in a header, or not at all (2025-03-26).
Both are served at one address, without sessions.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.mcp.protocol.json_rpc import Code, Message, ProtocolError

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
"""The revisions that begin with `initialize`, the newest first."""

META = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES = f"{META}protocolVersion", f"{META}clientCapabilities"
_CLIENT = f"{META}clientInfo"
_ENCODED = ("=?base64?", "?=")
_MAX_CLIENT = 64


class Head(Struct, frozen=True):
    """The headers of a request that MCP knows, None for one that is absent. `Mcp-Param-*` is not
    among them: no tool's schema names one (`x-mcp-header`)."""

    version: str | None = None
    method: str | None = None
    name: str | None = None
    user_agent: str = ""


def head_of(environ: Mapping[str, Any]) -> Head:
    """The headers of MCP in a request."""
    header = environ.get
    return Head(
        header("HTTP_MCP_PROTOCOL_VERSION"),
        header("HTTP_MCP_METHOD"),
        header("HTTP_MCP_NAME"),
        header("HTTP_USER_AGENT", ""),
    )


def is_modern(head: Head, message: Message) -> bool:
    """Whether a message is of 2026-07-28 or later: it names its revision in its body, or in a
    header, or has another header or a method of those revisions."""
    if _VERSION in message.meta:
        return True
    if head.version is not None:
        return head.version not in LEGACY
    return head.method is not None or message.method == "server/discover"


def check_modern(head: Head, message: Message) -> None:
    """Raises ProtocolError for a request of 2026-07-28 whose metadata is missing, differs from its
    headers, or names a revision that is not served."""
    meta, method, name = message.meta, message.method, head.name
    if method == "tools/call":
        name = message.params.get("name")
    actual = meta.get(_VERSION), head.version, head.method, head.name
    if actual != (MODERN, MODERN, method, name) or type(meta.get(_CAPABILITIES)) is not dict:
        _check_each(head, message)


def check_legacy(head: Head, message: Message) -> None:
    """Raises ProtocolError for a request of 2025 with a header of later revisions that differs from
    its body: what stands before the gateway may have judged it by the header."""
    if head.method is not None and head.method != message.method:
        raise _mismatch("Mcp-Method", head.method, message.method)
    if head.name is not None and message.method == "tools/call":
        _check_name(head, message)


def _check_each(head: Head, message: Message) -> None:
    """Raises ProtocolError for the first thing that is wrong: a header may also be encoded."""
    meta = message.meta
    version = meta.get(_VERSION)
    if not isinstance(version, str):
        raise _invalid(f"params._meta has no '{_VERSION}'. Send \"{MODERN}\".")
    if not isinstance(meta.get(_CAPABILITIES), dict):
        raise _invalid(f"params._meta has no object '{_CAPABILITIES}'. Send {{}} for none.")
    if head.version != version:
        raise _mismatch("MCP-Protocol-Version", head.version, version)
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise ProtocolError(Code.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if head.method != message.method:
        raise _mismatch("Mcp-Method", head.method, message.method)
    if message.method == "tools/call":
        _check_name(head, message)


def _check_name(head: Head, message: Message) -> None:
    """Raises ProtocolError if the name of the tool is not that of the header."""
    name = message.params.get("name")
    if not isinstance(name, str):
        raise _invalid("params.name is not a string.")
    if head.name != name and (text := header_value("Mcp-Name", head.name)) != name:
        raise _mismatch("Mcp-Name", text, name)


def negotiated(message: Message) -> str:
    """The revision that answers `initialize`: the client's, if it is served."""
    version = message.params.get("protocolVersion")
    return version if version in LEGACY else LEGACY[0]


def legacy_revision(head: Head, message: Message) -> str:
    """The revision of a message of the years before."""
    if message.method == "initialize":
        return negotiated(message)
    return head.version or LEGACY[-1]


def client_of(head: Head, message: Message) -> str:
    """The program that calls, as it says itself, `name/version`: printable, at most 64 characters.
    Messages after `initialize` name none, but for the User-Agent."""
    info = message.meta.get(_CLIENT)
    if info is None and message.method == "initialize":
        info = message.params.get("clientInfo")
    if isinstance(info, dict):
        text = f"{info.get('name', '')}/{info.get('version', '')}"[:_MAX_CLIENT]
    else:
        text = head.user_agent[:_MAX_CLIENT].partition(" ")[0]
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def header_value(header: str, text: str | None) -> str | None:
    """The value of a header that may be encoded. Raises ProtocolError."""
    prefix, suffix = _ENCODED
    if text is None or not (
        text.startswith(prefix) and text.endswith(suffix) and len(text) > len(prefix) + 1
    ):
        return text
    encoded = text[len(prefix) : -len(suffix)]
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        message = f"Header mismatch: {header} is not base64 of UTF-8"
        raise ProtocolError(Code.HEADER_MISMATCH, message) from error


def _mismatch(header: str, text: str | None, value: str) -> ProtocolError:
    """The refusal of a header that is missing, or differs from its value in the body."""
    actual = "missing" if text is None else f"{text[:128]!r}, the body has {value[:128]!r}"
    return ProtocolError(Code.HEADER_MISMATCH, f"Header mismatch: {header} is {actual}")


def _invalid(message: str) -> ProtocolError:
    return ProtocolError(Code.INVALID_PARAMS, message)
