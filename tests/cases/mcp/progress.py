"""Call a tool whose operation streams, with Python's SDK: python progress.py URL TOKEN. Prints the
progress, then the text of the result. The stream goes on when another tool is called, at the first
progress."""

import asyncio
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        tasks = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            print(int(progress))
            tasks.append(asyncio.create_task(client.call_tool("show", {"id": "go"})))

        result = await client.call_tool("stream", {}, progress_callback=note)
        await asyncio.gather(*tasks)
        print(result.content[0].text)


asyncio.run(main(*sys.argv[1:]))
