"""Tools of other MCP servers: their lists, their pins, and calls of them. A server is not trusted:
what it lists and answers is bounded and cleaned here. Sends nothing itself; `client.py` first."""
