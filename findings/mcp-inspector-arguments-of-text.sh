#!/usr/bin/env bash
# @modelcontextprotocol/inspector 2.12.0: an argument for a string that looks like a number is sent as one.
#
# `mcp-inspector --cli URL --method tools/call --tool-name show --tool-arg id=7` calls a tool whose input schema, which the
# server has listed, says `id: {type: string}`. The arguments of the call are `{"id": 7}`, so a server that checks them
# (as it must, tools/call of revision 2026-07-28) refuses the call. `id=seven` is sent as a string.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/inspector@2.12.0 node@22.23.3
cat >server.mjs <<'JAVASCRIPT'
import { createServer } from "node:http";
const tool = { name: "show", inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } };
const answer = ({ method, params }) =>
  method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
    : method === "tools/list"
      ? { tools: [tool] }
      : { content: [{ type: "text", text: `got ${JSON.stringify(params.arguments)}` }] };
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(text);
  if (message.id === undefined) return response.writeHead(202).end();
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
JAVASCRIPT
export PATH="$folder/node_modules/.bin:$PATH"
node server.mjs >port &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
until [ -s port ]; do sleep 0.1; done
call() {
    mcp-inspector --cli "http://127.0.0.1:$(cat port)/mcp" --transport http --format json \
        --method tools/call --tool-name show --tool-arg "id=$1"
}
for value in 7 seven; do
    echo "id=$value: $(call "$value" | grep -o 'got [^}]*}' | tr -d '\\')"
done | tee seen
grep -qx 'id=7: got {"id":7}' seen
grep -qx 'id=seven: got {"id":"seven"}' seen
