#!/usr/bin/env bash
# FastMCP 4.2.3: tools made of an OpenAPI document send three kinds of valid parameters otherwise than the document says,
# and cannot hand on a picture.
#
# OpenAPI 3.1.1, 4.8.12 (Parameter Object), and its "Style Examples":
# 1. `in: path` with `style: label` or `matrix`: `/x/7` is sent, in place of `/x/.7` and `/x/;n=7`.
# 2. `content: {application/json: ...}`: the value is JSON, `q={"a":1}` (percent-encoded). `a=1` is sent: the
#    parameter `q` is gone, and there is one that the document does not have.
# 3. An operation whose answer is `image/png`: the tool fails with "'utf-8' codec can't decode byte 0x89", although a
#    result of MCP may be an image.
# None is refused when the server is made.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fastmcp==4.2.3 httpx==0.28.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import asyncio
import logging

import httpx
from fastmcp import Client, FastMCP

logging.disable()
NUMBER = {"type": "integer"}
OBJECT = {"type": "object", "properties": {"a": NUMBER}}
PICTURE = b"\x89PNG\r\n\x1a\n"
CASES = {
    "label": ("/x/{n}", {"name": "n", "in": "path", "required": True, "style": "label", "schema": NUMBER}, 7),
    "matrix": ("/x/{n}", {"name": "n", "in": "path", "required": True, "style": "matrix", "schema": NUMBER}, 7),
    "simple": ("/x/{n}", {"name": "n", "in": "path", "required": True, "schema": NUMBER}, 7),
    "JSON": ("/x", {"name": "q", "in": "query", "content": {"application/json": {"schema": OBJECT}}}, {"a": 1}),
}


async def call(path: str, parameters: list[dict], arguments: dict, answer: httpx.Response) -> tuple[list[str], str]:
    """The targets of the requests to the API, and the error of the tool."""
    targets = []

    def respond(request: httpx.Request) -> httpx.Response:
        targets.append(request.url.raw_path.decode())
        return answer

    responses = {"200": {"description": "OK", "content": {"image/png": {}, "application/json": {}}}}
    operation = {"operationId": "ask", "parameters": parameters, "responses": responses}
    info = {"title": "API", "version": "1"}
    document = {"openapi": "3.1.1", "info": info, "paths": {path: {"get": operation}}}
    async with httpx.AsyncClient(base_url="http://api", transport=httpx.MockTransport(respond)) as http:
        async with Client(FastMCP.from_openapi(document, client=http)) as client:
            try:
                await client.call_tool("ask", arguments)
            except Exception as error:
                return targets, str(error)
    return targets, ""


async def main() -> None:
    seen = {}
    for name, (path, parameter, value) in CASES.items():
        targets, error = await call(path, [parameter], {parameter["name"]: value}, httpx.Response(200, json={}))
        seen[name] = targets[0]
        print(name, value, targets, error)
    picture = httpx.Response(200, content=PICTURE, headers={"Content-Type": "image/png"})
    targets, error = await call("/x", [], {}, picture)
    print("picture", targets, error)
    assert seen == {"label": "/x/7", "matrix": "/x/7", "simple": "/x/7", "JSON": "/x?a=1"}, seen
    assert "'utf-8' codec can't decode byte 0x89" in error, error


asyncio.run(main())
PYTHON
