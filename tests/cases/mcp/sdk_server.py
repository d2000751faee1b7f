"""A server of Python's SDK, of both eras: python sdk_server.py PORT."""

import sys

from mcp.server import MCPServer

server = MCPServer("sdk")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("no luck")


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
