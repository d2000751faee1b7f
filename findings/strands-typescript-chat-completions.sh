#!/usr/bin/env bash
# @strands-agents/sdk 1.19.0 (npm): of valid Chat Completions streams, tool calls, the usage and refusals are lost, and
# two streams are an error.
#
# A delta has a list of tool calls, each piece of which names its call by `index`; `role`, `refusal` and, in any chunk,
# `usage` are optional members (OpenAI API reference, "chat completion chunk").
# - Of two calls, in two chunks, as OpenAI sends them, or in one, the first is lost without an error: the agent runs the
#   second only. Their blocks end with the stream, and the second block begins with empty accumulators.
# - Pieces of two calls that take turns are joined to one text: "unable to parse tool input JSON".
# - Deltas without a `role`: "Stream ended without completing a message".
# - `usage` in the chunk with the `finish_reason`, as DeepSeek and Mistral send it, is not read: there is none.
# - A refusal is a message without content, with the stop reason "endTurn".
# Of the models of Anthropic and Google, this package reads parallel calls and the usage rightly.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages="@strands-agents/sdk@1.19.0 @modelcontextprotocol/sdk@1.32.2 openai@6.49.0 zod@4.6.7"
npm install --silent --no-audit --no-fund --ignore-scripts $packages
cat >stream.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { Message, TextBlock } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";

const choice = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
const piece = (index, text, head = {}) => ({ index, ...head, function: { ...(head.id && { name: "add" }), arguments: text } });
const begin = (index, text) => piece(index, text, { id: `call_${index}`, type: "function" });
const calls = (...tool_calls) => choice({ tool_calls });
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const role = choice({ role: "assistant", content: null });
const last = { choices: [], usage };
const done = (reason) => [choice({}, reason), last];
const STREAMS = {
  plain: [role, choice({ content: "One " }), choice({ content: "two." }), ...done("stop")],
  chunks: [role, calls(begin(0, '{"x":1}')), calls(begin(1, '{"x":2}')), ...done("tool_calls")],
  delta: [role, calls(begin(0, '{"x":1}'), begin(1, '{"x":2}')), ...done("tool_calls")],
  turns: [role, calls(begin(0, '{"x"'), begin(1, '{"x"')), calls(piece(0, ":1}"), piece(1, ":2}")), ...done("tool_calls")],
  roleless: [choice({ content: "One " }), choice({ content: "two." }), ...done("stop")],
  counted: [role, choice({ content: "One " }), { ...choice({ content: "two." }, "stop"), usage }],
  refusal: [role, choice({ refusal: "I " }), choice({ refusal: "cannot." }), ...done("stop")],
};

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { model } = JSON.parse(body);
  const chunks = STREAMS[model].map((chunk) => ({ id: "c", object: "chat.completion.chunk", created: 1, model, ...chunk }));
  response.setHeader("Content-Type", "text/event-stream");
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const clientConfig = { baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 };

async function answer(modelId) {
  const model = new OpenAIModel({ api: "chat", modelId, apiKey: "none", clientConfig });
  const events = model.streamAggregated([new Message({ role: "user", content: [new TextBlock("Hello")] })], {});
  let total = null;
  for (;;) {
    const { done, value } = await events.next();
    if (done) return [value.stopReason, value.message.content.map((block) => block.text ?? block.input.x), total];
    if (value.type === "modelMetadataEvent") total = value.usage?.totalTokens ?? null;
  }
}

const seen = {};
for (const name of Object.keys(STREAMS)) seen[name] = await answer(name).catch((error) => error.message);
console.log(seen);
assert.deepEqual(seen, {
  plain: ["endTurn", ["One two."], 3],
  chunks: ["toolUse", [2], 3],
  delta: ["toolUse", [2], 3],
  turns: "unable to parse tool input JSON",
  roleless: "Stream ended without completing a message",
  counted: ["endTurn", ["One two."], null],
  refusal: ["endTurn", [], 3],
});
server.close();
JAVASCRIPT
node stream.mjs
