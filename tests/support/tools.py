"""Tools that call nothing, for tests of the protocol."""

from __future__ import annotations

from typing import Any

from engine.mcp.request_values import ToolArguments
from engine.mcp.tool import Tool


def new_tool(name: str, description: str = "", **more: Any) -> Tool:
    """A tool without arguments, of the operation `shop.NAME`."""
    schema = {"type": "object", "properties": more.pop("properties", {})}
    values = {
        "title": "",
        "output_schema": None,
        "annotations": {},
        "operation": f"shop.{name}",
        "route": None,
        "arguments": ToolArguments({}, None),
    }
    return Tool(name=name, description=description, input_schema=schema, **(values | more))
