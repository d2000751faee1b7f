#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 (npm): of resources under a template, those with a space, with an optional parameter
# left out, or with a list of segments are not found or named otherwise, and a client makes other URIs than the
# template says.
#
# `uriTemplate` of a resource is a template of RFC 6570 (MCP 2025-11-25, "Resources", "Resource Templates"). There a
# value is percent-encoded (3.2.1), a variable without a value is left out, `{?text,page}` with a text is `?text=a`
# (3.2.8), and `{/parts*}` is a segment for each part (3.2.6). A server that gives each of its templates all its own
# URIs
# - reads `Oslo%20fjord` where the title is "Oslo fjord";
# - has a resource `find://all?text=a&page=2`, but neither `find://all?text=a` nor `find://all`: "not found";
# - has none of `doc://set/a/b`.
# `UriTemplate.expand` of the same package writes "1,2" for `{/x,y}`, "2" for `{;x,y}` and nothing for `{path:3}`:
# these operators are of levels 3 and 4, which it takes without an error. The SDK for Python, mcp 2.3.0, reads all of
# the URIs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mcp==2.3.0
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 zod@4.6.7
cat >resources.mjs <<'JAVASCRIPT'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";

const cases = JSON.parse(process.argv[2]);
const server = new McpServer({ name: "server", version: "1" });
for (const template of new Set(cases.map(([template]) => template))) {
  server.registerResource(template, new ResourceTemplate(template, { list: undefined }), {}, (uri, values) => ({
    contents: [{ uri: uri.href, text: JSON.stringify(values) }],
  }));
}
const client = new Client({ name: "client", version: "1" });
const ends = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(ends[0]), client.connect(ends[1])]);
const read = [];
for (const [, uri] of cases) {
  read.push(await client.readResource({ uri }).then(({ contents }) => JSON.parse(contents[0].text), () => "not found"));
}
const values = { x: "1", y: "2", path: "/foo/bar" };
const expanded = ["{?x,y}", "{/x,y}", "{;x,y}", "{path:3}"].map((each) => new UriTemplate(each).expand(values));
console.log(JSON.stringify({ read, expanded }));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import asyncio
import json
import logging
import subprocess

from mcp import Client
from mcp.server.mcpserver import MCPServer

logging.disable()
CASES = {
    ("note://all/{title}", "note://all/Oslo%20fjord"): {"title": "Oslo fjord"},
    ("find://all{?text,page}", "find://all?text=a&page=2"): {"text": "a", "page": "2"},
    ("find://all{?text,page}", "find://all?text=a"): {"text": "a"},
    ("find://all{?text,page}", "find://all"): {},
    ("doc://set{/parts*}", "doc://set/a/b"): {"parts": ["a", "b"]},
}
server = MCPServer("server")


@server.resource("note://all/{title}")
def note(title: str) -> str:
    return json.dumps({"title": title})


@server.resource("find://all{?text,page}")
def find(text: str | None = None, page: str | None = None) -> str:
    return json.dumps({name: value for name, value in (("text", text), ("page", page)) if value})


@server.resource("doc://set{/parts*}")
def document(parts: list[str]) -> str:
    return json.dumps({"parts": parts})


async def read_all() -> list:
    async with Client(server) as client:
        return [json.loads((await client.read_resource(uri)).contents[0].text) for _, uri in CASES]


python = asyncio.run(read_all())
npm = json.loads(subprocess.check_output(["node", "resources.mjs", json.dumps(list(CASES))], text=True))
for (_, uri), value, other in zip(CASES, npm["read"], python, strict=True):
    print(f"{uri}: TypeScript {value}, Python {other}")
print("expanded:", npm["expanded"])
assert python == list(CASES.values())
assert npm["read"] == [{"title": "Oslo%20fjord"}, {"text": "a", "page": "2"}, *["not found"] * 3]
assert npm["expanded"] == ["?x=1&y=2", "1,2", "2", ""], "RFC 6570: ?x=1&y=2, /1/2, ;x=1;y=2, %2Ffo"
PYTHON
