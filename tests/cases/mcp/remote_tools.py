"""Call tools of servers behind the gateway with fastmcp: python remote_tools.py URL TOKEN."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, token: str) -> None:
    async with Client(url, auth=token) as client:
        tools = await client.list_tools()
        total = await client.call_tool("sdk_add", {"a": 1, "b": 2})
        greeting = await client.call_tool("fast_greet", {"name": "Bo"})
        image = await client.call_tool("fast_draw", {})
        failed = await client.call_tool("sdk_fail", {}, raise_on_error=False)
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools],
                "sum": total.structured_content,
                "greeting": greeting.content[0].text,
                "image": image.content[0].mime_type,
                "failed": failed.is_error,
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
