"""The two tools that stand for all tools of a server that has many: `search_tools`, `call_tool`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from engine.mcp.listed_tool import ListedTool

SEARCH, CALL = "search_tools", "call_tool"
DEFAULT_LIMIT, MAX_LIMIT = 5, 20
_MAX_BYTES = 200_000
_READ = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}

SEARCH_TOOLS: tuple[Mapping[str, Any], ...] = (
    {
        "name": SEARCH,
        "title": "Search tools",
        "description": "Find tools by words of what they do, for example 'create order'. Returns "
        "the best matches with their names, descriptions and input schemas. Call one of them with "
        f"{CALL}.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words of the task, in any order"},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": DEFAULT_LIMIT,
                    "description": "Tools to return",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": _READ,
    },
    {
        "name": CALL,
        "title": "Call a tool",
        "description": f"Call a tool that {SEARCH} has found, with arguments as its input schema "
        "describes.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name"},
                "arguments": {"type": "object", "description": "The tool's arguments"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    },
)
"""What a list has in place of all tools."""


def matches_document(tools: Sequence[ListedTool], total: int) -> dict[str, Any]:
    """The answer of a search, as large as agents can use: of tools beyond it no schema is given."""
    matches, size = list[dict[str, Any]](), 0
    for tool in tools:
        match: dict[str, Any] = {"name": tool.name, "description": tool.description}
        schema = orjson.dumps(tool.input_schema)
        size += len(schema)
        if size <= _MAX_BYTES:
            match["inputSchema"] = tool.input_schema
        matches.append(match)
    return {"tools": matches, "searched": total}
