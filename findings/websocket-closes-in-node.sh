#!/usr/bin/env bash
# websocket 1.0.35 and faye-websocket 0.11.4 (npm): a server that restarts broke the protocol, a close without a code is
# another one, and an empty message never arrives.
#
# A Close frame may have no code, which a client reports as 1005 (RFC 6455, 7.1.5). Codes are registered by IANA (11.7,
# "WebSocket Close Code Number Registry"): 1012 Service Restart, 1013 Try Again Later, 1014 Bad Gateway. A message may be
# empty, of text or binary data (5.6): a frame's payload has a length of zero or more (5.2, "n >= 0").
# - faye-websocket reports 1012, 1013 and 1014 as 1002, a protocol error, and no code as 1000, as if all were done.
# - websocket reports no code as 1006, "Connection dropped by remote peer", although it was closed in order, and for 1000
#   and 1001 without a reason one that nobody sent. A text message without text is lost, an empty binary one is not.
# ws 8.23.0 and undici 7.30.2 report what was sent.
#
# A program that comes back after 1012 and 1013, and not after 1002, gives up when the server is restarted.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund undici@7.30.2 websocket@1.0.35 faye-websocket@0.11.4 ws@8.23.0
cat >close.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import faye from "faye-websocket";
import { WebSocket as undici } from "undici";
import websocket from "websocket";
import ws from "ws";
const frame = (opcode, data) => Buffer.concat([Buffer.from([0x80 | opcode, data.length]), data]);
const close = (code, reason) => {
  const data = Buffer.concat([Buffer.alloc(2), Buffer.from(reason)]);
  data.writeUInt16BE(code);
  return frame(8, data);
};
const empty = Buffer.alloc(0);
const answers = {
  1000: close(1000, ""),
  1001: close(1001, "bye"),
  1012: close(1012, "restart"),
  1013: close(1013, "later"),
  1014: close(1014, "gateway"),
  3000: close(3000, "login"),
  4999: close(4999, "own"),
  none: frame(8, empty),
  empty: Buffer.concat([frame(1, empty), frame(2, empty), close(1001, "")]),
};
const server = createServer().on("upgrade", (request, socket) => {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
  socket.on("error", () => {});
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
  socket.end(answers[request.url.slice(1)]);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const url = `ws://127.0.0.1:${server.address().port}`;
const libraries = { undici, websocket: websocket.w3cwebsocket, "faye-websocket": faye.Client, ws };
const seen = {};
for (const [library, WebSocket] of Object.entries(libraries)) {
  seen[library] = {};
  for (const name of Object.keys(answers)) {
    const socket = new WebSocket(`${url}/${name}`);
    socket.binaryType = "arraybuffer";
    const messages = [];
    socket.onmessage = ({ data }) => messages.push(typeof data === "string" ? "text" : "binary");
    socket.onerror = () => messages.push("error");
    const { code, reason } = await new Promise((closed) => (socket.onclose = closed));
    seen[library][name] = [code, reason, ...messages].join(" ").trim();
  }
}
console.log(seen);
const right = {
  1000: "1000",
  1001: "1001 bye",
  1012: "1012 restart",
  1013: "1013 later",
  1014: "1014 gateway",
  3000: "3000 login",
  4999: "4999 own",
  none: "1005",
  empty: "1001  text binary",
};
assert.deepStrictEqual(seen, {
  undici: right,
  websocket: {
    ...right,
    1000: "1000 Normal connection closure",
    none: "1006 Connection dropped by remote peer.",
    empty: "1001 Remote peer is going away binary",
  },
  "faye-websocket": { ...right, 1012: "1002 restart", 1013: "1002 later", 1014: "1002 gateway", none: "1000" },
  ws: right,
});
process.exit(0);
JAVASCRIPT
node close.mjs
