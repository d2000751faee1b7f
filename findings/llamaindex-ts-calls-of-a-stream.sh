#!/usr/bin/env bash
# @llamaindex/openai 0.4.22 (npm): of two tool calls in a stream, one is lost, or gets the arguments of the other; a call
# without arguments is an error.
#
# A delta of Chat Completions has a list of tool calls, and each piece says by `index` to which call it belongs (OpenAI API
# reference, "chat completion chunk"). LlamaIndex.TS looks at the first piece of each delta only, and adds each piece to the
# call that it began last:
# - two calls in one delta: the second one is gone;
# - the pieces of two calls in turns: `f` has `{"x": 2}`, where 2 is what the model wrote for `g`, then more, until it
#   raises SyntaxError; of `g` nothing is seen;
# - a call whose arguments are "", as servers write it for a tool without parameters: SyntaxError, while the whole answer
#   has the call.
# One call after another is read. openai 7.59.0 and @openai/agents 0.20.0 read all four streams.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @llamaindex/openai@0.4.22 @llamaindex/core@0.6.22 @llamaindex/env@0.1.30 \
  openai@7.59.0 @openai/agents@0.20.0 zod@4.6.7
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { OpenAI as LlamaIndex } from "@llamaindex/openai";
import { OpenAIChatCompletionsModel, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
const piece = (index, text, name) => ({ index, ...(name && { id: name, type: "function" }), function: { name, arguments: text } });
const streams = {
  "one after another": [[piece(0, '{"x": ', "f")], [piece(0, "1}")], [piece(1, '{"y": 2}', "g")]],
  "in one delta": [[piece(0, '{"x": 1}', "f"), piece(1, '{"y": 2}', "g")]],
  "in turns": [[piece(0, '{"x": ', "f"), piece(1, '{"y": ', "g")], [piece(1, "2}")], [piece(0, "1}")]],
  "no arguments": [[piece(0, "", "f")]],
};
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const tool_calls of [...streams[JSON.parse(body).model], null]) {
      const choice = { index: 0, delta: tool_calls ? { role: "assistant", tool_calls } : {} };
      choice.finish_reason = tool_calls ? null : "tool_calls";
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const options = { apiKey: "none", baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 };
const metadata = (name) => ({ name, description: name, parameters: { type: "object", properties: {} } });
const tools = ["f", "g"].map((name) => ({ metadata: metadata(name), call: () => "" }));

// Each state of the arguments that LlamaIndex yields of a call, in their order.
const llamaIndex = async (model) => {
  const states = {};
  try {
    const messages = [{ role: "user", content: "Call." }];
    for await (const chunk of await new LlamaIndex({ ...options, model }).chat({ messages, tools, stream: true })) {
      for (const { name, input } of chunk.options?.toolCall ?? []) {
        (states[name] ??= []).push(typeof input === "string" ? input : JSON.stringify(input));
      }
    }
  } catch (error) {
    states.error = error.name;
  }
  return states;
};
const agents = async (model) => {
  setTracingDisabled(true);
  const request = { input: "Call.", modelSettings: {}, tools: [], outputType: "text", handoffs: [], tracing: false };
  let calls;
  for await (const event of new OpenAIChatCompletionsModel(new OpenAI(options), model).getStreamedResponse(request)) {
    if (event.type === "response_done") calls = event.response.output.map((item) => [item.name, item.arguments]);
  }
  return Object.fromEntries(calls);
};
const openai = async (model) => {
  const stream = new OpenAI(options).chat.completions.stream({ model, messages: [] });
  const calls = (await stream.finalChatCompletion()).choices[0].message.tool_calls;
  return Object.fromEntries(calls.map((call) => [call.function.name, call.function.arguments]));
};
const right = { f: '{"x": 1}', g: '{"y": 2}' };
for (const name of Object.keys(streams)) {
  const states = await llamaIndex(name);
  console.log(`${name}:`, states);
  assert.deepStrictEqual(states, {
    "one after another": { f: ['{"x": ', '{"x": 1}', '{"x":1}'], g: ['{"y":2}'] },
    "in one delta": { f: ['{"x": 1}', '{"x":1}'] },
    "in turns": { f: ['{"x": ', '{"x": 2}', '{"x": 2}1}'], error: "SyntaxError" },
    "no arguments": { f: [""], error: "SyntaxError" },
  }[name]);
  for (const read of [agents, openai]) {
    assert.deepStrictEqual(await read(name), name === "no arguments" ? { f: "" } : right, `${read.name}: ${name}`);
  }
}
server.closeAllConnections();
server.close();
JAVASCRIPT
node read.mjs
