#!/usr/bin/env bash
# @ag-ui/client 1.0.0 (npm): an agent whose events end with CRLF, as those of sse-starlette 3.7.0 do, cannot be read.
#
# AG-UI sends its events as server-sent events, whose lines end with CRLF, LF or CR (HTML Living Standard, 9.2.5,
# "Parsing an event stream"). `HttpAgent` looks for two LF: it takes all of a stream with CRLF or CR for one event, and
# ends with "SyntaxError: Unexpected non-whitespace character after JSON" when the agent has said everything; no event
# is given to the page before that. CRLF is what sse-starlette, the usual way to such a stream in FastAPI, writes unless it
# is told otherwise. eventsource-parser 4.1.3 reads all three alike.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sse-starlette==3.7.0
cd "$folder"
npm install --silent --no-audit --no-fund @ag-ui/client@1.0.0 eventsource-parser@4.1.3
venv/bin/python - <<'PYTHON'
import json
from pathlib import Path

from sse_starlette import ServerSentEvent

EVENTS = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "One two"},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
]
for name, options in {"default": {}, "LF": {"sep": "\n"}, "CRLF": {"sep": "\r\n"}, "CR": {"sep": "\r"}}.items():
    stream = b"".join(ServerSentEvent(json.dumps(event), **options).encode() for event in EVENTS)
    Path(name).write_bytes(stream)
PYTHON
cat >run.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { HttpAgent } from "@ag-ui/client";
import { createParser } from "eventsource-parser";

console.error = () => {};
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(readFileSync(request.url.slice(1)));
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const seen = {};
for (const name of ["default", "LF", "CRLF", "CR"]) {
  const parsed = [];
  const parser = createParser({ onEvent: (event) => parsed.push(JSON.parse(event.data)) });
  parser.feed(readFileSync(name, "utf8"));
  parser.reset({ consume: true });
  assert.equal(parsed.length, 5);
  const agent = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}/${name}`, threadId: "t" });
  let count = 0;
  try {
    const { newMessages } = await agent.runAgent({ runId: "r" }, { onEvent: () => void count++ });
    seen[name] = newMessages[0].content;
  } catch (error) {
    seen[name] = error.name;
  }
  console.log(`${name}: ${seen[name]}, ${count} events; eventsource-parser: ${parsed.length} events`);
  assert.equal(count, name === "LF" ? 5 : 0);
}
server.close();
assert.deepStrictEqual(seen, { default: "SyntaxError", LF: "One two", CRLF: "SyntaxError", CR: "SyntaxError" });
JAVASCRIPT
node run.mjs
