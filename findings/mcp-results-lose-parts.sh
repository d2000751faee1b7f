#!/usr/bin/env bash
# strands-agents 1.62.0, dspy 3.4.1 and langchain-mcp-adapters 0.3.2: of a valid result of an MCP tool, parts never reach
# the model.
#
# The content of a result may be text, images, audio, links to resources and embedded resources, in any mixture, and
# `structuredContent` beside it (MCP 2025-11-25, "Tools", "Tool Result"). Of one result with two texts, an image, a sound,
# a link, an embedded text and an embedded PDF file:
# - strands keeps the texts, the image and the embedded text; the sound, the link and the file are gone without a word
#   to the model;
# - dspy keeps the first two texts alone, and of a result that is `structuredContent` only it returns [];
# - langchain-mcp-adapters raises NotImplementedError for the sound, so that the other six parts are lost with it.
# A tool that answers with a link or a file seems to have answered nothing, and the model guesses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in strands dspy langchain; do python3 -m venv "$folder/$name"; done
"$folder/strands/bin/pip" install --quiet strands-agents==1.62.0 mcp==2.1.1
"$folder/dspy/bin/pip" install --quiet dspy==3.4.1 mcp==2.3.0
"$folder/langchain/bin/pip" install --quiet langchain-mcp-adapters==0.3.2 mcp==1.30.0
cd "$folder"
cat >call.py <<'PYTHON'
import asyncio
import json
import sys

library, url = sys.argv[1:]


def with_strands() -> dict[str, object]:
    from mcp.client.streamable_http import streamable_http_client
    from strands.tools.mcp import MCPClient

    with MCPClient(lambda: streamable_http_client(url)) as client:
        results = {name: client.call_tool_sync("1", name, {}) for name in ("mixed", "structured")}
    kinds = [next(iter(part)) for part in results["mixed"]["content"]]
    return {"mixed": kinds, "structured": results["structured"].get("structuredContent")}


async def dspy_results() -> dict[str, object]:
    import dspy
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(url) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        return {
            tool.name: await dspy.Tool.from_mcp_tool(session, tool).acall() for tool in (await session.list_tools()).tools
        }


async def langchain_results() -> dict[str, object]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    servers, results = {"server": {"url": url, "transport": "streamable_http"}}, {}
    for tool in await MultiServerMCPClient(servers).get_tools():
        call = {"type": "tool_call", "name": tool.name, "args": {}, "id": "1"}
        try:
            message = await tool.ainvoke(call)
            results[tool.name] = (message.artifact or {}).get("structured_content", message.content)
        except NotImplementedError:
            results[tool.name] = "NotImplementedError"
    return results


found = with_strands() if library == "strands" else asyncio.run(globals()[f"{library}_results"]())
print(json.dumps(found))
PYTHON
python3 - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MIXED = [
    {"type": "text", "text": "one"},
    {"type": "text", "text": "two"},
    {"type": "image", "data": PNG, "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
    {"type": "resource", "resource": {"uri": "file:///b.txt", "mimeType": "text/plain", "text": "three"}},
    {"type": "resource", "resource": {"uri": "file:///c.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}},
]
RESULTS = {"mixed": {"content": MIXED}, "structured": {"content": [], "structuredContent": {"degrees": 1.5}}}
SCHEMA = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}
TOOLS = [
    {"name": "mixed", "description": "A tool.", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "structured", "description": "A tool.", "inputSchema": {"type": "object", "properties": {}}},
]
TOOLS[1]["outputSchema"] = SCHEMA


class Server(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if message["method"] == "initialize":
            info = {"serverInfo": {"name": "server", "version": "1"}, "capabilities": {"tools": {}}}
            result = {"result": {"protocolVersion": message["params"]["protocolVersion"], **info}}
        elif message["method"] == "tools/list":
            result = {"result": {"tools": TOOLS}}
        elif message["method"] == "tools/call":
            result = {"result": RESULTS[message["params"]["name"]]}
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
for library in ("strands", "dspy", "langchain"):
    command = [f"{library}/bin/python", "-W", "ignore", "call.py", library, url]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120)
    seen[library] = json.loads(run.stdout.splitlines()[-1])
    print(library, seen[library])
assert seen == {
    "strands": {"mixed": ["text", "text", "image", "text"], "structured": {"degrees": 1.5}},
    "dspy": {"mixed": ["one", "two"], "structured": []},
    "langchain": {"mixed": "NotImplementedError", "structured": {"degrees": 1.5}},
}
PYTHON
