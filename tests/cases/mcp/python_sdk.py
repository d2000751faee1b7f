"""List, call and fail with Python's SDK: python python_sdk.py URL TOKEN."""

import asyncio
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from session import use


async def main(url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await use((await client.list_tools()).tools, client.call_tool)


asyncio.run(main(*sys.argv[1:]))
