#!/usr/bin/env bash
# @genkit-ai/compat-oai 1.42.0 with genkit 1.42.0 (npm): of valid Chat Completions, whole and streamed, texts are lost,
# and a tool without parameters cannot be called.
#
# A message, and a delta of a stream, have `content`, `refusal` and `tool_calls`, all of them optional, in any mixture
# (OpenAI API reference, "chat completion" and "chat completion chunk").
# 1. The text beside a tool call is lost: of "Let me add." and a call the call alone is left, whole and streamed.
# 2. The text of a refusal is lost: the answer has no content, as if the model had nothing to say.
# 3. The `arguments` of a call of a tool without parameters may be the empty text, as vLLM and others write it. The tool's
#    input is "", no object, and `generate` raises INVALID_ARGUMENT. With "{}" the tool is called.
# 4. Of a thought that is streamed in `reasoning_content`, as DeepSeek does, the final message has the last piece alone.
#    The plugin reads the field, and joins the pieces of a text.
# 5. A stream whose deltas have no `role`, which is optional too, ends with "missing role for choice 0" of openai-node (see
#    openai-node-streams-without-a-role.sh).
#
# Nothing of 1, 2 and 4 is logged. An agent that writes and calls a tool in one answer seems to be silent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts genkit@1.42.0 @genkit-ai/compat-oai@1.42.0
cat >generate.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";

const call = (name, text) => [{ index: 0, id: "call_1", type: "function", function: { name, arguments: text } }];
const first = (delta) => ({ role: "assistant", content: null, ...delta });
const ANSWERS = {
  plain: [first({ content: "One " }), { content: "two." }],
  both: [first({ content: "Let me add." }), { content: " Now.", tool_calls: call("add", '{"x":1}') }],
  refusal: [first({ refusal: "I " }), { refusal: "cannot." }],
  empty: [first({ tool_calls: call("now", "") })],
  braces: [first({ tool_calls: call("now", "{}") })],
  roleless: [{ content: "One " }, { content: "two." }],
  thought: [first({ reasoning_content: "Think" }), { reasoning_content: "ing." }, { content: "Done." }],
};

function message(deltas) {
  const whole = {};
  for (const delta of deltas) {
    for (const [name, value] of Object.entries(delta)) {
      whole[name] = typeof value === "string" && whole[name] ? whole[name] + value : (value ?? whole[name] ?? null);
    }
  }
  return whole;
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const { model, messages, stream } = JSON.parse(body);
  const deltas = messages.at(-1).role === "tool" ? [first({ content: "It is noon." })] : ANSWERS[model];
  const finish_reason = deltas.some((delta) => delta.tool_calls) ? "tool_calls" : "stop";
  const answer = { id: "c", object: "chat.completion", created: 1, model };
  const choice = { index: 0, finish_reason, message: message(deltas) };
  if (!stream) {
    response.setHeader("Content-Type", "application/json");
    return response.end(JSON.stringify({ ...answer, choices: [choice] }));
  }
  const chunks = [...deltas, {}].map((delta, place) => ({
    ...answer,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: place === deltas.length ? finish_reason : null }],
  }));
  response.setHeader("Content-Type", "text/event-stream");
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const ai = genkit({ plugins: [openAICompatible({ name: "local", apiKey: "none", baseURL, maxRetries: 0 })] });
const add = ai.defineTool({ name: "add", description: "Adds.", inputSchema: z.object({ x: z.number() }) }, async ({ x }) => x);
const now = ai.defineTool({ name: "now", description: "The time.", inputSchema: z.object({}) }, async () => "noon");

async function content(model, more) {
  const options = { model: `local/${model}`, prompt: "Hello", tools: [add, now], ...more };
  const whole = (await ai.generate(options)).message.content;
  const { stream, response } = ai.generateStream(options);
  for await (const _ of stream);
  const seen = [whole, (await response).message.content].map((parts) =>
    parts.map((part) => part.text ?? part.reasoning ?? part.toolRequest.input),
  );
  console.log(`${model}:`, JSON.stringify(seen));
  return seen;
}

const calls = { returnToolRequests: true };
assert.deepEqual(await content("plain"), [["One two."], ["One two."]]);
assert.deepEqual(await content("both", calls), [[{ x: 1 }], [{ x: 1 }]]);
assert.deepEqual(await content("refusal"), [[], []]);
assert.deepEqual(await content("empty", calls), [[""], [""]]);
assert.deepEqual(await content("braces"), [["It is noon."], ["It is noon."]]);
await assert.rejects(content("empty"), /INVALID_ARGUMENT: Schema validation failed/);
assert.deepEqual(await content("thought"), [["Thinking.", "Done."], ["ing.", "Done."]]);
await assert.rejects(content("roleless"), /missing role for choice 0/);
server.close();
JAVASCRIPT
GENKIT_ENV=prod node generate.mjs
