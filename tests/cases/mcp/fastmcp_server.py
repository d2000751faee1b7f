"""A server of fastmcp that reports progress and draws: python fastmcp_server.py PORT."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image

server = FastMCP("fast")


@server.tool
async def greet(name: str, context: Context) -> str:
    """Greet somebody."""
    await context.report_progress(1, 2)
    await context.info("greeting")
    return f"Hello, {name}."


@server.tool
def draw() -> Image:
    """Draw."""
    return Image(data=b"\x89PNG", format="png")


server.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
