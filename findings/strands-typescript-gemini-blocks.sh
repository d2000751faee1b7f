#!/usr/bin/env bash
# @strands-agents/sdk 1.19.0 (npm): an answer of Gemini that was stopped as unsafe is a whole one, and of a prompt that was
# blocked the reason is lost.
#
# - `finishReason` says why a candidate ends: SAFETY, PROHIBITED_CONTENT, BLOCKLIST, SPII and RECITATION are answers that
#   the service has cut off (Gemini API reference, "FinishReason"). All of them are "endTurn", the natural end of a turn,
#   although this package has "contentFiltered" for content that safety mechanisms have filtered (its reference,
#   "StopReason"). So half a sentence is an answer.
# - Of a blocked prompt there are no candidates, and `promptFeedback.blockReason` says why (same reference,
#   "PromptFeedback"). The error is "Stream ended without completing a message", without the reason.
# @google/genai 2.32.0, which it calls, hands both on.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages="@strands-agents/sdk@1.19.0 @modelcontextprotocol/sdk@1.32.2 @google/genai@2.32.0 zod@4.6.7"
npm install --silent --no-audit --no-fund --ignore-scripts $packages
cat >stream.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { GoogleGenAI } from "@google/genai";
import { Message, TextBlock } from "@strands-agents/sdk";
import { GoogleModel } from "@strands-agents/sdk/models/google";

const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 };
const text = (text) => ({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] });
const end = (finishReason) => ({ candidates: [{ index: 0, finishReason }], usageMetadata });
const FILTERED = ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"];
const BLOCKED = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata };

const server = createServer(async (request, response) => {
  request.resume();
  const [, model] = /models\/([A-Za-z_]+):/.exec(request.url);
  const events = model === "blocked" ? [BLOCKED] : [text("Take "), text("ten"), end(model)];
  response.setHeader("Content-Type", "text/event-stream");
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const httpOptions = { baseUrl: `http://127.0.0.1:${server.address().port}` };

async function strands(modelId) {
  const model = new GoogleModel({ modelId, apiKey: "none", clientConfig: { httpOptions } });
  const events = model.streamAggregated([new Message({ role: "user", content: [new TextBlock("Hello")] })], {});
  for (;;) {
    const { done, value } = await events.next();
    if (done) return [value.stopReason, value.message.content.map((block) => block.text).join("")];
  }
}

async function google(model) {
  const client = new GoogleGenAI({ apiKey: "none", httpOptions });
  let reason;
  for await (const chunk of await client.models.generateContentStream({ model, contents: "Hello" }))
    reason = chunk.candidates?.[0].finishReason ?? chunk.promptFeedback?.blockReason ?? reason;
  return reason;
}

const seen = {};
for (const name of ["STOP", ...FILTERED, "blocked"])
  seen[name] = [await strands(name).catch((error) => error.message), await google(name)];
console.log(seen);
for (const name of ["STOP", ...FILTERED]) assert.deepEqual(seen[name], [["endTurn", "Take ten"], name]);
assert.deepEqual(seen.blocked, ["Stream ended without completing a message", "PROHIBITED_CONTENT"]);
server.close();
JAVASCRIPT
node stream.mjs
