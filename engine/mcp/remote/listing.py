"""The tools that another MCP server lists, made fit for clients and models, within bounds.

What a server says of its tools is read by models, and decides what clients accept: texts are
cleaned as those of documents are, names are made usable, and a tool whose schema is too large, too
deep or none is held back, as is one that differs from its pin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from engine.config.mcp import McpServer, ToolServer
from engine.mcp.descriptions import MAX_DESCRIPTION, MAX_TITLE, plain_text
from engine.mcp.protocol.search import CALL, SEARCH
from engine.mcp.remote.client import MAX_TOOLS
from engine.mcp.remote.schemas import object_schema
from engine.plan.plan import ToolUpstream
from engine.plan.route import Route
from engine.plan.tool_names import longest, shortened, tool_name
from engine.plan.tool_pins import MEMBERS, digest_of
from engine.values.caller import Caller
from engine.values.trees import has_more_levels

MAX_SCHEMA = 65_536
"""Bytes of the definition of one tool."""
MAX_LEVELS = 24
"""Levels of a schema; more than any model reads, and fewer than clients' validators survive."""
MAX_TOTAL = 4_000_000
"""Bytes of all definitions of a server."""
_MAX_NAME = 128
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

Definition = Mapping[str, Any]
Pace = Callable[[Iterable[Any]], Iterator[Any]]
"""Yields the items of a list that takes long, so that others have their turn meanwhile."""


class HeldTool(NamedTuple):
    """A tool that is not listed, by the server's name, and why."""

    name: str
    reason: str


class Listing(Struct, frozen=True):
    """What is listed of a server: the definitions of its tools as they came, in the order of their
    names, and those that are held back. `digest` is equal for equal ones."""

    tools: Sequence[Definition] = ()
    held_tools: Sequence[HeldTool] = ()
    digest: str = ""
    seconds: float = 0.0
    """How long it may be kept, as the server says."""


def listing_of(
    upstream: ToolUpstream, pages: Iterable[Mapping[str, Any]], pace: Pace = iter
) -> Listing:
    """The listing of a server whose list has these pages. `pace` yields items in turns."""
    tools: dict[str, Definition] = {}
    reasons: dict[str, str] = {}
    seconds, total = 0.0, 0
    for page in pages:
        ttl = page.get("ttlMs")
        seconds = ttl / 1000 if type(ttl) is int and 0 < ttl < 10**9 else seconds
        entries = page.get("tools")
        for entry in pace(entries if isinstance(entries, list) else ()):
            name, reason = _judge(entry)
            total += 0 if reason else len(orjson.dumps(entry))
            if not name or name in tools:
                continue
            if not reason and (len(tools) >= MAX_TOOLS or total > MAX_TOTAL):
                reason = "the list is too large"
            reason = reason or _difference(upstream, name, entry)
            if not reason:
                tools[name] = entry
            elif len(reasons) < MAX_TOOLS:
                reasons[name] = reason
    definitions = [tools[name] for name in sorted(tools)]
    held_tools = [HeldTool(name, reasons[name]) for name in sorted(reasons)]
    digest = "".join(map(digest_of, pace(definitions))) + repr(held_tools)
    return Listing(definitions, held_tools, digest_of({"name": digest}), seconds)


def pinned_listing(upstream: ToolUpstream) -> Listing:
    """The listing of a server that does not answer: the tools of its pins, which were reviewed."""
    pins = upstream.pins or {}
    return listing_of(upstream, [{"tools": [dict(tool) for tool in pins.values()]}])


def _judge(entry: object) -> tuple[str, str]:
    """The name of a listed tool, "" if it has none, and why it cannot be listed."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME or not name.isprintable():
        return "", "no name"
    assert isinstance(entry, dict)
    schema = entry.get("inputSchema")
    if not isinstance(schema, dict):
        return name, "its inputSchema is not an object"
    if schema.get("type", "object") != "object":
        return name, "its inputSchema is not that of an object"
    if has_more_levels(entry, MAX_LEVELS):
        return name, f"its schema has more than {MAX_LEVELS} levels"
    if (size := len(orjson.dumps(entry))) > MAX_SCHEMA:
        return name, f"its definition has {size} bytes, more than {MAX_SCHEMA}"
    return name, ""


def _difference(upstream: ToolUpstream, name: str, entry: Definition) -> str:
    """How a tool differs from its pin; "" if it does not, or tools are not pinned."""
    if upstream.pins is None:
        return ""
    pin = upstream.pins.get(name)
    if pin is None:
        return "it is not in the file of pins"
    if digest_of(pin) == digest_of(entry):
        return ""
    changed = [key for key in MEMBERS if pin.get(key) != entry.get(key)]
    return f"{' and '.join(changed)} changed since it was pinned"


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool of another MCP server, as agents list and call it. `remote` is the server's name for
    it, `upstream` that of the server; `operation` is `UPSTREAM.TOOL`."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, bool]
    operation: str
    route: Route = field(repr=False)
    upstream: str
    remote: str

    def for_caller(self, caller: Caller | None) -> RemoteTool:
        """The tool as a caller sees it."""
        return self


def remote_tools(
    listing: Listing,
    server: ToolServer,
    upstream: ToolUpstream,
    entry: McpServer,
    pace: Pace = iter,
) -> list[RemoteTool]:
    """The tools of a listing that a server of ours, the `entry` of mcp, takes."""
    most = longest(entry.name)
    return [
        _tool(tool, server, upstream, most, outputs=entry.output_schemas)
        for tool in pace(listing.tools)
        if server.takes(str(tool["name"]))
    ]


def unique(
    tools: Iterable[RemoteTool], other_names: Iterable[str], entry: str, pace: Pace = iter
) -> list[RemoteTool]:
    """The tools with names that no other has: of two with one name the later gets a digest of its
    operation. `other_names` are the names of other tools of the server `entry`."""
    names = {name.lower() for name in (*other_names, SEARCH, CALL)}
    most, result = longest(entry), []
    for tool in pace(tools):
        name = tool.name
        if name.lower() in names:
            name = shortened(f"{name}_", tool.operation, most)
        if name.lower() not in names:
            names.add(name.lower())
            result.append(replace(tool, name=name))
    return result


def _tool(
    tool: Definition, server: ToolServer, upstream: ToolUpstream, most: int, *, outputs: bool
) -> RemoteTool:
    name, output = str(tool["name"]), tool.get("outputSchema")
    hints = tool.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    title = tool.get("title") or hints.get("title")
    text = tool.get("description")
    has_output = outputs and isinstance(output, dict) and output.get("type") == "object"
    return RemoteTool(
        name=tool_name(server.prefix + name, most),
        title=plain_text(title, MAX_TITLE) if isinstance(title, str) else "",
        description=plain_text(text, MAX_DESCRIPTION) if isinstance(text, str) else "",
        input_schema=object_schema(tool["inputSchema"]),
        output_schema=object_schema(output) if has_output and output is not None else None,
        annotations={key: hints[key] for key in _HINTS if isinstance(hints.get(key), bool)},
        operation=f"{upstream.name}.{name}",
        route=upstream.route,
        upstream=upstream.name,
        remote=name,
    )
