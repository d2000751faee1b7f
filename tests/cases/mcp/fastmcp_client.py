"""List, call and fail with fastmcp: python fastmcp_client.py URL TOKEN."""

import asyncio
import sys
from functools import partial

from fastmcp import Client
from session import use


async def main(url: str, token: str) -> None:
    async with Client(url, auth=token) as client:
        call = partial(client.call_tool, raise_on_error=False)
        await use(await client.list_tools(), call)


asyncio.run(main(*sys.argv[1:]))
