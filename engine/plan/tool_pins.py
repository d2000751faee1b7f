"""The file of the tools of another MCP server, which `modelway tools pin` writes and people review:
each tool as the server listed it, with a digest.

Each text stands in the file, since a digest alone cannot be reviewed; the digest is what the
gateway compares, and both must agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import orjson

MEMBERS = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""What of a tool is pinned, beside its name. Other members (`_meta`, icons) are not passed on."""

Definition = Mapping[str, Any]


class InvalidPins(ValueError):
    """A file has no pins; `str` says why and what to do."""


def digest_of(tool: Definition) -> str:
    """The digest of a tool as a server lists it: of its name and of MEMBERS, as canonical JSON."""
    members = {"name": tool.get("name"), **{key: tool[key] for key in MEMBERS if key in tool}}
    text = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
    return f"sha256:{sha256(text).hexdigest()}"


def pins_text(server: str, tools: Iterable[Definition]) -> str:
    """The text of the file for tools as a server lists them; `server` is its
    name."""
    entries = {}
    for tool in sorted(tools, key=lambda each: str(each["name"])):
        members = {key: tool[key] for key in MEMBERS if key in tool}
        entries[tool["name"]] = {"digest": digest_of(tool), **members}
    return json.dumps({"server": server, "tools": entries}, indent=2, ensure_ascii=False) + "\n"


def read_pins(text: str | bytes) -> dict[str, Definition]:
    """The tools of a file by name, as their server listed them. Raises InvalidPins."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidPins(f"it is not JSON: {error}") from error
    entries = document.get("tools") if isinstance(document, dict) else None
    if not isinstance(entries, dict):
        raise InvalidPins("it has no object 'tools'")
    return {name: _definition(name, entry) for name, entry in entries.items()}


def _definition(name: str, entry: object) -> Definition:
    if not isinstance(entry, dict):
        raise InvalidPins(f"the tool '{name}' is not an object")
    tool = {"name": name, **{key: entry[key] for key in MEMBERS if key in entry}}
    if entry.get("digest") != digest_of(tool):
        raise InvalidPins(f"the digest of '{name}' is not that of its text")
    return tool
