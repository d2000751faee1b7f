#!/usr/bin/env bash
# openai-node 7.59.0: of a Chat Completions stream whose deltas have no `role`, the helper gives nothing to its listeners, and
# raises "missing role for choice 0" at the end.
#
# `role` is one of the optional members of a delta (OpenAI API reference, "chat completion chunk"), and what a model
# streams is the assistant's. `chat.completions.stream` reads all of it, but calls no listener of `content`;
# `finalChatCompletion()`, `finalContent()` and `totalUsage()` raise, so that there is no text, no message for the history
# and no usage. `create` with `stream: true` reads the stream.
#
# For what LangChain makes of such streams see langchain-js-streams-without-a-role.sh.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0
cat >stream.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import OpenAI from "openai";

const choice = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const rest = [choice({ content: "One " }), choice({ content: "two." }), choice({}, "stop"), { choices: [], usage }];
const STREAMS = { with: [choice({ role: "assistant" }), ...rest], without: rest };
const MESSAGES = [{ role: "user", content: "Hello" }];

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const { model } = JSON.parse(body);
  const chunks = STREAMS[model].map((chunk) => ({ id: "c", object: "chat.completion.chunk", created: 1, model, ...chunk }));
  response.setHeader("Content-Type", "text/event-stream");
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const client = new OpenAI({ apiKey: "none", baseURL, maxRetries: 0 });
const outcome = (promise) => promise.then((value) => value, (error) => error.message);

async function helper(model) {
  let text = "";
  const stream = client.chat.completions.stream({ model, messages: MESSAGES }).on("content", (piece) => (text += piece));
  const ends = [stream.finalChatCompletion().then((whole) => whole.choices[0].message.content), stream.finalContent()];
  return [...(await Promise.all([...ends, stream.totalUsage().then((sum) => sum.total_tokens)].map(outcome))), text];
}

const missing = "missing role for choice 0";
const seen = { with: await helper("with"), without: await helper("without") };
let created = "";
for await (const chunk of await client.chat.completions.create({ model: "without", messages: MESSAGES, stream: true })) {
  created += chunk.choices[0]?.delta.content ?? "";
}
console.log(seen, "create:", created);
assert.deepEqual(seen.with, ["One two.", "One two.", 3, "One two."]);
assert.deepEqual(seen.without, [missing, missing, missing, ""]);
assert.equal(created, "One two.");
server.close();
JAVASCRIPT
node stream.mjs
