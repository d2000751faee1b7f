#!/usr/bin/env bash
# @microsoft/fetch-event-source 2.0.1: each comment that keeps a stream alive is a message with the data "".
#
# A comment, a line that begins with a colon, is ignored, and where no data was collected nothing is dispatched (HTML
# Living Standard, 9.2.6; 9.2.7 advises servers to send a comment every 15 seconds). `fetchEventSource` calls
# `onmessage` for the blank line behind it. The usual `JSON.parse(message.data)` then throws, `onerror` is called, and
# if that does not throw, the request is sent again, one second later: a POST to a model runs, and is paid for, twice.
# An event with an `id` or an `event` alone is dispatched, too. eventsource 5.1.5 dispatches the last event only.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @microsoft/fetch-event-source@2.0.1 eventsource@5.1.5
cat >sources.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { EventSource } from "eventsource";
const { fetchEventSource } = createRequire(import.meta.url)("@microsoft/fetch-event-source");

const BODY = ': keep-alive\n\nid: 7\n\nevent: note\n\ndata: {"text": "Hello."}\n\n';
let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  response.writeHead(200, { "Content-Type": "text/event-stream" }).write(BODY);
  if (request.method === "POST") response.end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

// The library is written for browsers: it asks for the visibility of the page and sets timers of the window.
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
globalThis.window = globalThis;

const fetched = [];
await fetchEventSource(url, { method: "POST", onmessage: ({ data }) => fetched.push(data) });
const standard = await new Promise((resolve) => {
  const source = new EventSource(url);
  source.onmessage = ({ data }) => (source.close(), resolve([data]));
  source.addEventListener("note", () => resolve(["note"]));
});
requests = 0;
const texts = [];
await fetchEventSource(url, {
  method: "POST",
  onmessage: ({ data }) => texts.push(JSON.parse(data).text),
  onerror(error) { if (requests === 2) throw error; },
}).catch(() => {});
console.log("fetch-event-source:", fetched, "| eventsource:", standard);
console.log("requests, if onmessage parses JSON:", requests, "| texts:", texts);
assert.deepStrictEqual(fetched, ["", "", "", '{"text": "Hello."}']);
assert.deepStrictEqual(standard, ['{"text": "Hello."}']);
assert.deepStrictEqual([requests, texts], [2, []]);
server.closeAllConnections();
server.close();
JAVASCRIPT
timeout 60 node sources.mjs
