"""List, call and fail with fastmcp: python fastmcp_client.py URL TOKEN."""

import asyncio
import json
import sys

from fastmcp import Client
from mcp import MCPError


async def main(url: str, token: str) -> None:
    async with Client(url, auth=token) as client:
        tools = await client.list_tools()
        result = await client.call_tool("show", {"id": "7"})
        refused = await client.call_tool("show", {}, raise_on_error=False)
        try:
            await client.call_tool("nothing", {})
        except MCPError as error:
            unknown = str(error)
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools],
                "structured": result.structured_content,
                "refused": [refused.is_error, refused.content[0].text],
                "unknown": unknown,
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
