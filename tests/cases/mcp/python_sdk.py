"""List, call and fail with Python's SDK: python python_sdk.py URL TOKEN."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        tools = (await client.list_tools()).tools
        result = await client.call_tool("show", {"id": "7"})
        refused = await client.call_tool("show", {})
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
