#!/usr/bin/env bash
# @ai-sdk/anthropic 4.0.105 with ai 7.0.173: text that comes with the beginning of a block is lost.
#
# The block in `content_block_start` is a whole one, whose required `text` or `thinking` is a string like any other, and
# deltas add to it (Anthropic API reference, "Streaming messages"). Anthropic's own servers leave it empty, servers that
# speak the same format may not. The helpers of anthropic 2.14.0 and @anthropic-ai/sdk 1.14.0 begin with that text; the
# AI SDK begins with "". The input of a `tool_use` block is taken from there by all.
#
# The answer reads like one that begins in the middle of a sentence, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet anthropic==2.14.0
cd "$folder"
npm install --silent --no-audit --no-fund ai@7.0.173 @ai-sdk/anthropic@4.0.105 @anthropic-ai/sdk@1.14.0 zod@4.6.7
cat >stream.mjs <<'JAVASCRIPT'
import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { jsonSchema, streamText, tool } from "ai";
const fetch = async () => new Response(process.argv[2], { headers: { "Content-Type": "text/event-stream" } });
const tools = { look: tool({ description: "Look.", inputSchema: jsonSchema({ type: "object" }) }) };
const result = streamText({ model: createAnthropic({ apiKey: "none", fetch })("m"), prompt: "Hello", tools });
const [call] = await result.toolCalls;
const sdk = [await result.reasoningText, await result.text, call.input];
const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello" }] };
const message = await new Anthropic({ apiKey: "none", fetch }).messages.stream(request).finalMessage();
const [thinking, text, use] = message.content;
console.log(JSON.stringify({ "AI SDK": sdk, "@anthropic-ai/sdk": [thinking.thinking, text.text, use.input] }));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx2
from anthropic import Anthropic

BEGIN = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
BEGIN |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
THINKING = {"type": "thinking", "thinking": "I ", "signature": "s"}
END = {"stop_reason": "tool_use", "stop_sequence": None}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"city": "Oslo"}}


def block(index: int, first: dict, *deltas: dict) -> list[dict]:
    return [
        {"type": "content_block_start", "index": index, "content_block": first},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


events = [
    {"type": "message_start", "message": BEGIN},
    *block(0, THINKING, {"type": "thinking_delta", "thinking": "wonder."}),
    *block(1, {"type": "text", "text": "Do not "}, {"type": "text_delta", "text": "press it."}),
    *block(2, CALL),
    {"type": "message_delta", "delta": END, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
answer = httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, text=body)
client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: answer)))
with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hello"}]) as stream:
    thinking, text, use = stream.get_final_message().content
output = subprocess.run(["node", "stream.mjs", body], check=True, capture_output=True).stdout
seen = {**json.loads(output), "anthropic": [thinking.thinking, text.text, use.input]}
for name, parts in seen.items():
    print(f"{name}: {parts}")
assert seen["anthropic"] == seen["@anthropic-ai/sdk"] == ["I wonder.", "Do not press it.", CALL["input"]]
assert seen["AI SDK"] == ["wonder.", "press it.", CALL["input"]]
PYTHON
