#!/usr/bin/env bash
# @ai-sdk/mistral 4.0.87 with ai 7.0.173 (npm): a chunk with an empty list of choices ends a stream with a TypeError.
#
# A chunk of Mistral's API has `choices`, an array of any length, and may have a `usage` (its OpenAPI document, schema
# "CompletionChunk"). Servers that speak the format of OpenAI too count in a last chunk without choices, and `baseURL` of
# this provider is there for "proxy servers" (its own description). Of such a stream the text arrives, then "Cannot read
# properties of undefined (reading 'delta')", without the finish reason and the usage; with the chunk at the beginning
# there is no text either. @mistralai/mistralai 2.2.1, Mistral's own client, and @ai-sdk/openai-compatible 3.0.92 read both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ai@7.0.173 @ai-sdk/mistral@4.0.87 @ai-sdk/openai-compatible@3.0.92 \
  @mistralai/mistralai@2.2.1
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Mistral } from "@mistralai/mistralai";
import { streamText } from "ai";
const chunk = (choices, usage) => ({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, usage });
const piece = (delta, finish_reason = null) => chunk([{ index: 0, delta, finish_reason }]);
const pieces = [piece({ role: "assistant", content: "Hi" }), piece({ content: " you" }), piece({ content: "" }, "stop")];
const count = chunk([], { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 });
const streams = { last: [...pieces, count], first: [count, ...pieces] };
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const event of streams[JSON.parse(body).model]) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${server.address().port}`;
const options = { baseURL: `${url}/v1`, apiKey: "none" };
const sdk = (provider) => async (name) => {
  let text = "";
  try {
    for await (const part of streamText({ model: provider(name), prompt: "Hi.", maxRetries: 0, onError() {} }).fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "error") throw part.error;
      if (part.type === "finish") text += `, ${part.finishReason}, ${part.totalUsage.outputTokens}`;
    }
  } catch (error) {
    return `${text}, ${error.message}`;
  }
  return text;
};
const mistral = async (model) => {
  let text = "", finish, usage;
  const client = new Mistral({ apiKey: "none", serverURL: url });
  for await (const { data } of await client.chat.stream({ model, messages: [{ role: "user", content: "Hi." }] })) {
    text += data.choices[0]?.delta.content ?? "";
    finish = data.choices[0]?.finishReason ?? finish;
    usage = data.usage ?? usage;
  }
  return `${text}, ${finish}, ${usage.completionTokens}`;
};
const readers = {
  "@ai-sdk/mistral": sdk(createMistral(options)),
  "@ai-sdk/openai-compatible": sdk(createOpenAICompatible({ ...options, name: "server" })),
  "@mistralai/mistralai": mistral,
};
const seen = {};
for (const [name, read] of Object.entries(readers)) seen[name] = [await read("last"), await read("first")];
console.log(seen);
const message = "Cannot read properties of undefined (reading 'delta')";
assert.deepStrictEqual(seen, {
  "@ai-sdk/mistral": [`Hi you, ${message}`, `, ${message}`],
  "@ai-sdk/openai-compatible": ["Hi you, stop, 3", "Hi you, stop, 3"],
  "@mistralai/mistralai": ["Hi you, stop, 3", "Hi you, stop, 3"],
});
process.exit(0);
JAVASCRIPT
node read.mjs
