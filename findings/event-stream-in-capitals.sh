#!/usr/bin/env bash
# httpx-sse 0.4.3 (Python), eventsource 4.1.1, @microsoft/fetch-event-source 2.0.1 and @fortaine/fetch-event-source 3.0.6
# (npm): a stream whose media type is written `Text/Event-Stream` is refused.
#
# The names of type and subtype are case-insensitive (RFC 9110, 8.3.1), and a browser takes a response whose media type,
# once parsed, is text/event-stream (HTML Living Standard, 9.2.3), in any case. These clients look for the letters in lower
# case: SSEError, an error event, an Error. Nothing of the answer is read, although the model is at work and paid for.
# requests-sse 0.5.3 (Python), eventsource-client 1.2.0 and @modelcontextprotocol/sdk 1.32.2 (npm) read it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund eventsource@4.1.1 @microsoft/fetch-event-source@2.0.1 \
  @fortaine/fetch-event-source@3.0.6 eventsource-client@1.2.0 @modelcontextprotocol/sdk@1.32.2
python3 -m venv venv
venv/bin/pip install --quiet httpx-sse==0.4.3 httpx==0.28.1 requests-sse==0.5.3
cat >read.py <<'PYTHON'
import json
import sys

import httpx
from httpx_sse import SSEError, connect_sse
from requests_sse import EventSource


def read_httpx_sse(url: str) -> list[str]:
    with httpx.Client() as client, connect_sse(client, "GET", url) as source:
        try:
            return [event.data for event in source.iter_sse()]
        except SSEError as error:
            return [f"SSEError: {error}"]


def read_requests_sse(url: str) -> list[str]:
    with EventSource(url, max_connect_retry=0) as source:
        return [next(iter(source)).data]


print(json.dumps({"httpx-sse": read_httpx_sse(sys.argv[1]), "requests-sse": read_requests_sse(sys.argv[1])}))
PYTHON
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { fetchEventSource as fortaine } from "@fortaine/fetch-event-source";
import { fetchEventSource as microsoft } from "@microsoft/fetch-event-source";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { EventSource } from "eventsource";
import { createEventSource } from "eventsource-client";

globalThis.window = globalThis; // both fetchEventSource are for pages
globalThis.document = { addEventListener() {}, removeEventListener() {}, hidden: false };

let mediaType;
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const call = body === "" ? {} : JSON.parse(body);
  if (request.url === "/mcp" && call.id === undefined) {
    response.writeHead(request.method === "POST" ? 202 : 405).end();
    return;
  }
  const { protocolVersion } = call.params ?? {};
  const hello = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
  const result = call.method === "initialize" ? hello : { tools: [{ name: "one", inputSchema: { type: "object" } }] };
  const data = call.id === undefined ? "one" : JSON.stringify({ jsonrpc: "2.0", id: call.id, result });
  response.writeHead(200, { "content-type": mediaType }).end(`data: ${data}\n\n`);
}).listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}`;

async function readFetch(fetchEventSource) {
  const texts = [];
  const options = { fetch, openWhenHidden: true, onmessage: (event) => texts.push(event.data) };
  const onerror = (error) => {
    throw error;
  };
  await fetchEventSource(url, { ...options, onerror });
  return texts;
}
function readEventSource() {
  const source = new EventSource(url);
  return new Promise((resolve, reject) => {
    source.onmessage = (event) => resolve([event.data]);
    source.onerror = (event) => reject(new Error(event.message));
  }).finally(() => source.close());
}
async function readEventSourceClient() {
  const source = createEventSource({ url });
  for await (const event of source) {
    source.close();
    return [event.data];
  }
}
async function listTools() {
  const client = new Client({ name: "x", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}
const CLIENTS = {
  "@microsoft/fetch-event-source": () => readFetch(microsoft),
  "@fortaine/fetch-event-source": () => readFetch(fortaine),
  eventsource: readEventSource,
  "eventsource-client": readEventSourceClient,
  "@modelcontextprotocol/sdk": listTools,
};
const REFUSALS = {
  "@microsoft/fetch-event-source": "Error: Expected content-type to be text/event-stream, Actual: Text/Event-Stream",
  "@fortaine/fetch-event-source": "Error: Expected content-type to be text/event-stream, Actual: Text/Event-Stream",
  eventsource: 'Error: Invalid content type, expected "text/event-stream"',
  "httpx-sse": "SSEError: Expected response header Content-Type to contain 'text/event-stream', got 'Text/Event-Stream'",
};
for (mediaType of ["text/event-stream", "Text/Event-Stream"]) {
  const seen = JSON.parse((await promisify(execFile)("venv/bin/python", ["read.py", url])).stdout);
  for (const [name, read] of Object.entries(CLIENTS)) seen[name] = await read().catch((error) => [String(error)]);
  console.log(mediaType, seen);
  for (const [name, texts] of Object.entries(seen)) {
    const isRefused = mediaType === "Text/Event-Stream" && name in REFUSALS;
    assert.deepStrictEqual(texts, [isRefused ? REFUSALS[name] : "one"], name);
  }
}
process.exit(0);
JAVASCRIPT
node read.mjs
