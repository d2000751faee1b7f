#!/usr/bin/env bash
# @hono/node-server 1.19.19 and 2.1.9: a new Response made of what `fetch` returned has headers that cannot be changed.
# For this, Portkey's gateway answers each stream with 500.
#
# The headers of what `fetch` returns are immutable. A constructed Response has headers of its own, filled with those of
# `init` and with the guard "response" (Fetch Standard, "Response class"), and so Hono's documentation ("Proxy", in the
# examples) says to make one. Once `getRequestListener` was called, the global `Response` is a class of this package,
# whose `headers` may be the object of `init` itself: `append` throws "TypeError: immutable".
# - 1.14.1 is as it should be. In 2.1.9 `new Response(body, answer)` is right again, `{ status, headers }` is not.
#   The option `overrideGlobalObjects: false` leaves the `Response` of Node.js in place.
# - @portkey-ai/gateway 1.15.2 adds headers of its own to each answer, and takes any version from 1.3.3 below 2, so that
#   npm installs 1.19.19. It makes whole answers from a string, and streams from what `fetch` returned.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund hono@4.9.7 \
  old@npm:@hono/node-server@1.14.1 @hono/node-server@1.19.19 new@npm:@hono/node-server@2.1.9 @portkey-ai/gateway@1.15.2
PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PORT
node node_modules/@portkey-ai/gateway/build/start-server.js --headless "--port=$PORT" >log 2>&1 &
server=$!
cat >headers.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [] };
const upstream = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    const stream = body && JSON.parse(body).stream;
    response.setHeader("Content-Type", stream ? "text/event-stream" : "application/json");
    response.end(stream ? `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n` : JSON.stringify(CHUNK));
  });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => upstream.once("listening", resolve));
const url = `http://127.0.0.1:${upstream.address().port}`;

const Original = globalThis.Response;
async function appends(Class) {
  const results = [];
  for (const init of [(answer) => answer, ({ status, headers }) => ({ status, headers })]) {
    const answer = await fetch(url);
    try {
      const response = new Class(answer.body, init(answer));
      response.headers.append("X-Trace", "1");
      results.push(response.headers.get("X-Trace"));
    } catch (error) { results.push(String(error)); }
  }
  return results;
}
const seen = { "Node.js": await appends(Original) };
for (const name of ["old", "@hono/node-server", "new"]) {
  Object.defineProperty(globalThis, "Response", { value: Original, writable: true, configurable: true });
  (await import(name)).getRequestListener(() => new Response("Hello."));
  seen[name] = await appends(globalThis.Response);
}
console.log(seen);

const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": url, Authorization: "Bearer none" };
const chat = (stream) => fetch(`http://127.0.0.1:${process.env.PORT}/v1/chat/completions`, {
  method: "POST", headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "Hello" }] }),
});
for (let tries = 0; tries < 100 && !(await chat(false).catch(() => null)); tries++) await setTimeout(1000);
const statuses = [(await chat(false)).status, (await chat(true)).status];
console.log("Portkey, whole and streamed:", statuses);
const thrown = "TypeError: immutable";
const [copied, caught] = [["1", "1"], [thrown, thrown]];
assert.deepStrictEqual(seen, { "Node.js": copied, old: copied, "@hono/node-server": caught, new: ["1", thrown] });
assert.deepStrictEqual(statuses, [200, 500]);
upstream.close();
process.exit();
JAVASCRIPT
timeout 300 node headers.mjs
