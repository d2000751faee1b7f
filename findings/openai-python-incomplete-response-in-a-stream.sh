#!/usr/bin/env bash
# openai-python 3.57.0: an answer that reached `max_output_tokens` is a RuntimeError for `responses.stream`.
#
# Such a stream ends with `response.incomplete`, whose response has the text so far, `incomplete_details` and the usage
# (OpenAI API reference, "streaming events"). `get_final_response()` says that it did not receive `response.completed`,
# so that what was generated, and has its price, is in the events only. `responses.create`, without a stream, returns
# the same response with the status "incomplete"; so does `stream().finalResponse()` of openai-node 7.59.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openai==3.57.0
cd "$folder"
npm install --silent --no-audit --no-fund openai@7.59.0
cat >stream.mjs <<'JAVASCRIPT'
import OpenAI from "openai";
const fetch = async () => new Response(process.argv[2], { headers: { "Content-Type": "text/event-stream" } });
const stream = new OpenAI({ apiKey: "none", fetch }).responses.stream({ model: "m", input: "Hello" });
const response = await stream.finalResponse();
console.log(response.status, response.output_text);
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx2
from openai import OpenAI

START = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": []}
START |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None}
PART = {"type": "output_text", "text": "Once upon", "annotations": []}
ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "status": "incomplete", "content": [PART]}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
USAGE |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
END = {**START, "status": "incomplete", "output": [ITEM], "usage": USAGE}
END |= {"incomplete_details": {"reason": "max_output_tokens"}}
place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
events = [
    {"type": "response.created", "response": START},
    {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "status": "in_progress", "content": []}},
    {"type": "response.content_part.added", **place, "part": {**PART, "text": ""}},
    {"type": "response.output_text.delta", **place, "delta": "Once upon", "logprobs": []},
    {"type": "response.output_text.done", **place, "text": "Once upon", "logprobs": []},
    {"type": "response.content_part.done", **place, "part": PART},
    {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
    {"type": "response.incomplete", "response": END},
]
stream_body = "".join(
    f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n"
    for number, event in enumerate(events)
)


def answer(request: httpx2.Request) -> httpx2.Response:
    if json.loads(request.content).get("stream"):
        return httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, text=stream_body)
    return httpx2.Response(200, json=END)


client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
whole = client.responses.create(model="m", input="Hello")
try:
    with client.responses.stream(model="m", input="Hello") as stream:
        streamed = stream.get_final_response().status
except RuntimeError as error:
    streamed = f"RuntimeError: {error}"
node = subprocess.run(["node", "stream.mjs", stream_body], check=True, capture_output=True, text=True).stdout.strip()
print("whole:", whole.status, whole.output_text, "| stream:", streamed, "| stream, openai-node:", node)
assert (whole.status, whole.output_text) == ("incomplete", "Once upon") and node == "incomplete Once upon"
assert streamed == "RuntimeError: Didn't receive a `response.completed` event."
PYTHON
