#!/usr/bin/env bash
# dspy 3.4.1 and autogen-ext 0.7.5: a tool of an MCP server with a valid input schema raises TypeError or
# AttributeError; in AutoGen it takes all tools of the server away.
#
# `inputSchema` is a JSON Schema of type object (MCP 2025-11-25, "Tools"), 2020-12 if it says nothing else. There a
# schema may be `true` (Core, 4.3.2), and `type` may be an array (Validation, 6.1.1). Both libraries raise if one tool
# has a property whose schema is `true`, or one with `type: [string, integer]`.
# langchain-mcp-adapters 0.3.2 hands both schemas on as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in dspy autogen langchain; do python3 -m venv "$folder/$name"; done
"$folder/dspy/bin/pip" install --quiet dspy==3.4.1 mcp==2.3.0
"$folder/autogen/bin/pip" install --quiet autogen-ext==0.7.5 autogen-core==0.7.5 mcp==1.30.0
"$folder/langchain/bin/pip" install --quiet langchain-mcp-adapters==0.3.2 mcp==1.30.0
cd "$folder"
cat >names.py <<'PYTHON'
import asyncio
import sys

library, url = sys.argv[1:]


async def with_dspy() -> list[str]:
    import dspy
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(url) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        names = []
        for tool in (await session.list_tools()).tools:
            try:
                names.append(dspy.Tool.from_mcp_tool(session, tool).name)
            except Exception as error:
                return [type(error).__name__]
        return names


async def with_autogen() -> list[str]:
    from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools

    return [tool.name for tool in await mcp_server_tools(StreamableHttpServerParams(url=url))]


async def with_langchain() -> list[str]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    servers = {"server": {"url": url, "transport": "streamable_http"}}
    return [tool.name for tool in await MultiServerMCPClient(servers).get_tools()]


try:
    print(*asyncio.run(globals()[f"with_{library}"]()))
except Exception as error:
    print(type(error).__name__)
PYTHON
python3 - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMAS = {
    "plain": {"city": {"type": "string"}},
    "true": {"city": True},
    "two types": {"city": {"type": ["string", "integer"]}},
}
properties = {}


class Server(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if message["method"] == "initialize":
            info = {"serverInfo": {"name": "server", "version": "1"}, "capabilities": {"tools": {}}}
            result = {"result": {"protocolVersion": message["params"]["protocolVersion"], **info}}
        elif message["method"] == "tools/list":
            schemas = {"time": {}, "weather": properties}
            tools = [
                {"name": name, "description": "A tool.", "inputSchema": {"type": "object", "properties": members}}
                for name, members in schemas.items()
            ]
            result = {"result": {"tools": tools}}
        else:
            result = {"error": {"code": -32601, "message": "Method not found"}}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **result}).encode() if "id" in message else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_GET


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url, seen = f"http://127.0.0.1:{server.server_port}/mcp", {}
for library in ("dspy", "autogen", "langchain"):
    for name, properties in SCHEMAS.items():
        command = [f"{library}/bin/python", "-W", "ignore", "names.py", library, url]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120)
        seen[library, name] = run.stdout.strip()
    print(library, {name: seen[library, name] for name in SCHEMAS})
refused = {key for key, names in seen.items() if names != "time weather"}
assert refused == {(library, name) for library in ("dspy", "autogen") for name in ("true", "two types")}, refused
assert seen.pop(("dspy", "true")) == "AttributeError"
assert {seen[key] for key in refused if key in seen} == {"TypeError"}
PYTHON
