#!/usr/bin/env bash
# @langchain/google-genai 2.3.2 (npm): of a Gemini stream, events without content are not seen: why the answer ends, that
# the prompt was blocked, and that the stream failed.
#
# The last event of a stream may be a candidate with a `finishReason` alone, or `usageMetadata` alone, and an answer to a
# blocked prompt is a `promptFeedback` without candidates (Gemini API reference, "Generating content", where no member
# of GenerateContentResponse and Candidate is required). An error in the middle is an event with an `error`.
# - MAX_TOKENS and SAFETY: the answer has no finish reason. Cut text reads like any other.
# - Of a blocked prompt the stream yields nothing, without an error.
# - 503 in the middle: the stream ends as if the answer were complete.
# A finish reason in the event that has text is read. @ai-sdk/google 3.0.141 with ai 6.0.326 reports all four.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @langchain/google-genai@2.3.2 @langchain/core@1.4.0 ai@6.0.326 \
  @ai-sdk/google@3.0.141 zod@4.6.7
cat >streams.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import http from "node:http";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { streamText } from "ai";

const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
const text = (finishReason) => {
  const content = { role: "model", parts: [{ text: "Press the red" }] };
  return { candidates: [{ content, index: 0, ...(finishReason && { finishReason }) }], usageMetadata };
};
const end = (finishReason) => ({ candidates: [{ finishReason, index: 0 }], usageMetadata });
const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
const answers = {
  "with the text": [text("MAX_TOKENS")],
  "MAX_TOKENS alone": [text(), end("MAX_TOKENS")],
  "SAFETY alone": [text(), end("SAFETY")],
  blocked: [{ promptFeedback: { blockReason: "SAFETY" }, usageMetadata }],
  error: [text(), error],
};
let events;
const server = http.createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

async function langchain() {
  const model = new ChatGoogleGenerativeAI({ model: "m", apiKey: "none", baseUrl: url, maxRetries: 0 });
  let answer;
  for await (const chunk of await model.stream("How?")) answer = answer ? answer.concat(chunk) : chunk;
  return answer && [answer.content, answer.response_metadata.finishReason];
}

async function sdk() {
  const model = createGoogleGenerativeAI({ apiKey: "none", baseURL: `${url}/v1beta` })("m");
  const seen = [];
  for await (const part of streamText({ model, prompt: "How?", maxRetries: 0, onError: () => {} }).fullStream) {
    if (part.type === "error") seen.push(part.error.message);
    if (part.type === "finish") seen.push(part.finishReason);
  }
  return seen;
}

const seen = {};
for (const name of Object.keys(answers)) {
  events = answers[name];
  seen[name] = [await langchain(), await sdk()];
  console.log(name, JSON.stringify(seen[name]));
}
server.close();
const half = "Press the red";
assert.deepEqual(seen, {
  "with the text": [[half, "MAX_TOKENS"], ["length"]],
  "MAX_TOKENS alone": [[half, undefined], ["length"]],
  "SAFETY alone": [[half, undefined], ["content-filter"]],
  blocked: [undefined, ["content-filter"]],
  error: [[half, undefined], ["The model is overloaded.", "error"]],
});
JAVASCRIPT
node streams.mjs
