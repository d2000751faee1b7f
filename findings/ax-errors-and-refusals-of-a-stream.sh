#!/usr/bin/env bash
# @ax-llm/ax 24.0.21 (npm): of a stream of Chat Completions that fails, the reason is lost; of a refusal, all but its
# first piece.
#
# - After the headers a server reports an error as an event with an `error`. openai 7.59.0 raises it as APIError with its
#   message, code and type. ax raises "Cannot read properties of undefined (reading 'map')": a program cannot tell an
#   overloaded model from a fault of its own, or when to come back.
# - A refusal comes in pieces in `delta.refusal` (OpenAI API reference, "chat completion chunk"), which add up like those
#   of `content`. ax ends the stream at the first one, with an error whose `refusalMessage` is "I " of "I cannot do that.",
#   and without the usage that follows. Of the whole answer it has the whole sentence.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @ax-llm/ax@24.0.21 openai@7.59.0
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { createServer } from "node:http";
import { ai } from "@ax-llm/ax";
import OpenAI from "openai";
const piece = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
const head = { id: "c", created: 1, model: "m" };
const streams = {
  error: [piece({ role: "assistant", content: "Hi" }), { error: { message: "Overloaded.", type: "server_error", code: "busy" } }],
  refusal: [piece({ role: "assistant", refusal: "I " }), piece({ refusal: "cannot " }), piece({ refusal: "do that." }),
    piece({}, "stop")],
};
const message = { role: "assistant", content: null, refusal: "I cannot do that." };
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    const { model, stream } = JSON.parse(body);
    response.writeHead(200, { "Content-Type": stream ? "text/event-stream" : "application/json" });
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }];
      return response.end(JSON.stringify({ ...head, object: "chat.completion", choices }));
    }
    for (const event of streams[model]) {
      const chunk = event.error ? event : { ...head, object: "chat.completion.chunk", ...event };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${server.address().port}/v1`;
const ax = async (model, stream) => {
  const service = ai({ name: "openai", apiKey: "none", apiURL: url, config: { model, stream } });
  try {
    const answer = await service.chat({ chatPrompt: [{ role: "user", content: "Help." }] }, { stream });
    if (stream) for await (const _ of answer);
    return "no error";
  } catch (error) {
    return error.refusalMessage ?? error.message;
  }
};
const openai = async (model) => {
  const client = new OpenAI({ apiKey: "none", baseURL: url, maxRetries: 0 });
  let refusal = "";
  try {
    for await (const chunk of await client.chat.completions.create({ model, messages: [], stream: true })) {
      refusal += chunk.choices[0].delta.refusal ?? "";
    }
    return refusal;
  } catch (error) {
    return `${error.message} ${error.code}`;
  }
};
const seen = {
  "ax, an error": await ax("error", true),
  "ax, a streamed refusal": await ax("refusal", true),
  "ax, a whole refusal": await ax("refusal", false),
  "openai, an error": await openai("error"),
  "openai, a streamed refusal": await openai("refusal"),
};
console.log(seen);
assert.deepStrictEqual(seen, {
  "ax, an error": "Cannot read properties of undefined (reading 'map')",
  "ax, a streamed refusal": "I ",
  "ax, a whole refusal": "I cannot do that.",
  "openai, an error": "Overloaded. busy",
  "openai, a streamed refusal": "I cannot do that.",
});
process.exit(0);
JAVASCRIPT
node read.mjs
