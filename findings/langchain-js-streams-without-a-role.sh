#!/usr/bin/env bash
# @langchain/openai 1.6.0, @langchain/groq 1.3.1, @langchain/xai 1.4.15 and @langchain/deepseek 1.1.13 (npm): a Chat
# Completions stream whose deltas have no `role` is no answer of an assistant, and its tool calls are lost.
#
# `role` is one of the optional members of a delta (OpenAI API reference, "chat completion chunk"), and whatever a model
# streams is its own. The first three make a ChatMessageChunk of it, with an undefined role and without `tool_calls`:
# the calls are gone, and a program that looks for them, as the documentation of LangChain does, has a TypeError.
# @langchain/deepseek loses the calls too; only where text comes first it has an AIMessageChunk, whose `tool_calls`
# are empty. With the `role` in the first delta all four have both calls. @openai/agents 0.20.0 has them without it, and the
# helper of openai 7.59.0, `chat.completions.stream`, at least raises "missing role for choice 0".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @langchain/core@1.4.0 @langchain/openai@1.6.0 @langchain/groq@1.3.1 \
  @langchain/xai@1.4.15 @langchain/deepseek@1.1.13 openai@7.59.0 \
  @openai/agents@0.20.0 zod@4.6.7
cat >server.mjs <<'JAVASCRIPT'
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
const piece = (index, name, text) => ({ index, id: `call_${index}`, type: "function", function: { name, arguments: text } });
const calls = [{ tool_calls: [piece(0, "f", '{"x": ')] }, { tool_calls: [{ index: 0, function: { arguments: "1}" } }] },
  { tool_calls: [piece(1, "g", '{"y": 2}')] }];
const streams = {
  "with-role": [{ role: "assistant", content: "" }, ...calls],
  "without-role": calls,
  "text-first": [{ content: "Look." }, ...calls],
};
createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const delta of [...streams[JSON.parse(body).model], {}]) {
      const finish_reason = Object.keys(delta).length ? null : "tool_calls";
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1", function () {
  writeFileSync("port", String(this.address().port));
});
JAVASCRIPT
node server.mjs &
trap 'kill $!; rm -rf "$folder"' EXIT
until [ -s port ]; do sleep 0.1; done
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { ChatDeepSeek } from "@langchain/deepseek";
import { ChatGroq } from "@langchain/groq";
import { ChatOpenAI } from "@langchain/openai";
import { ChatXAI } from "@langchain/xai";
import { OpenAIChatCompletionsModel, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
const server = `http://127.0.0.1:${readFileSync("port")}`;
const baseURL = `${server}/v1`;
const options = { apiKey: "none", maxRetries: 0, configuration: { baseURL } };
const models = {
  openai: (model) => new ChatOpenAI({ ...options, model }),
  groq: (model) => new ChatGroq({ ...options, model, baseUrl: server }),
  xai: (model) => new ChatXAI({ ...options, model, baseURL }),
  deepseek: (model) => new ChatDeepSeek({ ...options, model }),
};
const names = ["with-role", "without-role", "text-first"];
const seen = {};
for (const [library, make] of Object.entries(models)) {
  for (const name of names) {
    let message;
    for await (const chunk of await make(name).stream("Look.")) message = message?.concat(chunk) ?? chunk;
    const calls = message.tool_calls?.map((call) => `${call.name} ${JSON.stringify(call.args)}`);
    seen[`${library} ${name}`] = [message.constructor.name, calls?.join(", ")];
  }
}
setTracingDisabled(true);
for (const name of names) {
  const request = { input: "Look.", modelSettings: {}, tools: [], outputType: "text", handoffs: [], tracing: false };
  const client = new OpenAI({ apiKey: "none", baseURL });
  for await (const event of new OpenAIChatCompletionsModel(client, name).getStreamedResponse(request)) {
    if (event.type !== "response_done") continue;
    const calls = event.response.output.filter((item) => item.type === "function_call");
    seen[`agents ${name}`] = ["", calls.map((call) => `${call.name} ${call.arguments}`).join(", ")];
  }
  const helper = client.chat.completions.stream({ model: name, messages: [] });
  const end = await helper.finalChatCompletion().catch((error) => error.message);
  if (typeof end === "string") seen[`openai-node ${name}`] = end;
}
for (const [name, value] of Object.entries(seen)) console.log(name, value);
const all = ["AIMessageChunk", 'f {"x":1}, g {"y":2}'];
const lost = ["ChatMessageChunk", undefined];
const right = ["", 'f {"x": 1}, g {"y": 2}'];
const expected = {};
for (const library of ["openai", "groq", "xai", "deepseek"]) {
  Object.assign(expected, { [`${library} with-role`]: all, [`${library} without-role`]: lost });
  expected[`${library} text-first`] = library === "deepseek" ? ["AIMessageChunk", ""] : lost;
}
for (const name of names) expected[`agents ${name}`] = right;
for (const name of names.slice(1)) expected[`openai-node ${name}`] = "missing role for choice 0";
assert.deepStrictEqual(seen, expected);
JAVASCRIPT
node read.mjs
