"""What each client does, once it is connected: list, call and fail."""

import json

from mcp import MCPError


async def use(tools, call):
    """Print what a client gets as one line of JSON. `tools` are those listed, `call` calls one."""
    result = await call("show", {"id": "7"})
    refusal = await call("show", {})
    try:
        await call("nothing", {})
    except MCPError as error:
        unknown = str(error)
    document = {
        "tools": [tool.name for tool in tools],
        "structured": result.structured_content,
        "refused": [refusal.is_error, refusal.content[0].text],
        "unknown": unknown,
    }
    print(json.dumps(document))
