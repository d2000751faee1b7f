#!/usr/bin/env bash
# undici 7.30.2, websocket 1.0.35 and faye-websocket 0.11.4 (npm): a WebSocket is not opened if the server's answer has two
# options in `Connection`, and undici's, which is the global WebSocket of Node.js, not if a space ends a line.
#
# `Connection` is a list of options (RFC 9110, 7.6.1), in one line or several (5.3), and a client fails the connection if
# it has no element "Upgrade" (RFC 6455, 4.1). Whitespace behind a value is no part of it (RFC 9112, 5.1). Proxies
# add `keep-alive` to answers of both kinds. All three compare the whole field with "upgrade", undici with its space: a
# realtime session behind such a proxy ends with code 1006, or an error of the handshake, before a message.
# ws 8.23.0 opens all of them. For Python see websocket-connection-with-two-options.sh.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund undici@7.30.2 websocket@1.0.35 faye-websocket@0.11.4 ws@8.23.0
cat >open.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import faye from "faye-websocket";
import { WebSocket as undici } from "undici";
import websocket from "websocket";
import ws from "ws";
const answers = {
  "one option": "Upgrade: websocket\r\nConnection: Upgrade\r\n",
  "any case": "Upgrade: WebSocket\r\nConnection: upgrade\r\n",
  "two options": "Upgrade: websocket\r\nConnection: Upgrade, keep-alive\r\n",
  "two lines": "Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n",
  "space behind Upgrade": "Upgrade: websocket \r\nConnection: Upgrade\r\n",
  "space behind Connection": "Upgrade: websocket\r\nConnection: Upgrade \r\n",
};
const text = Buffer.from([0x81, 2, 0x68, 0x69]);
const close = Buffer.from([0x88, 2, 0x03, 0xe8]);
const server = createServer().on("upgrade", (request, socket) => {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  const fields = answers[decodeURIComponent(request.url.slice(1))];
  socket.on("error", () => {});
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  socket.end(Buffer.concat([text, close]));
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const url = `ws://127.0.0.1:${server.address().port}`;
const libraries = { undici, websocket: websocket.w3cwebsocket, "faye-websocket": faye.Client, ws };
const seen = {};
for (const [library, WebSocket] of Object.entries(libraries)) {
  seen[library] = [];
  for (const name of Object.keys(answers)) {
    const socket = new WebSocket(`${url}/${encodeURIComponent(name)}`);
    let message;
    socket.onmessage = (event) => (message = event.data);
    socket.onerror = () => {};
    const { code } = await new Promise((closed) => (socket.onclose = closed));
    console.log(`${library}, ${name}: ${message}, ${code}`);
    if (message !== "hi") seen[library].push(name);
  }
}
const two = ["two options", "two lines"];
assert.deepStrictEqual(seen, {
  undici: [...two, "space behind Upgrade", "space behind Connection"],
  websocket: two,
  "faye-websocket": two,
  ws: [],
});
process.exit(0);
JAVASCRIPT
node open.mjs
