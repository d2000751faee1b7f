#!/usr/bin/env bash
# LiteLLM 1.108.7: two valid Chat Completions streams arrive without a part of what they say.
#
# 1. The text of a streamed refusal (`delta.refusal`, OpenAI API reference, "chat completion chunk") is lost even where
#    both sides speak Chat Completions: its chunks are dropped, and `finish_reason` is "stop". The caller of a stream
#    sees an empty answer where the caller of a whole one reads why.
# 2. Each fragment of a tool call in a chunk has the `index` of its call, so that calls made in parallel may take turns.
#    In the Messages API LiteLLM closes the block of the first call when the second begins, and then writes the
#    fragments of both into the second: the first call has no arguments, the second those of both, one after the
#    other, which is no JSON. In Chat Completions the fragments keep their index.
#
# The proxy does the same on `/v1/chat/completions` and `/v1/messages`; the library is enough to see it. The upstream
# is a server of the standard library on a free port of the loopback interface, in the same process.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet litellm==1.108.7
LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import litellm

REFUSAL, CITIES = "I cannot do that.", ("Oslo", "Rome")
LOOK = {"type": "function", "function": {"name": "look", "arguments": ""}}
ARGUMENTS = [json.dumps({"city": city}) for city in CITIES]
DELTAS = {
    "refuses": [{"role": "assistant", "content": None, "refusal": ""}, {"refusal": REFUSAL}],
    "calls": [
        {"role": "assistant", "content": None},
        *({"tool_calls": [{"index": n, "id": f"call_{n}", **LOOK}]} for n in (0, 1)),
        *({"tool_calls": [{"index": n, "function": {"arguments": ARGUMENTS[n]}}]} for n in (0, 1)),
    ],
}
ENDS = {"refuses": "stop", "calls": "tool_calls"}


class Upstream(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, head = asked["model"], {"id": "chatcmpl-1", "created": 1, "model": asked["model"]}
        if asked.get("stream"):
            chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in DELTAS[name]]
            chunks.append({"index": 0, "delta": {}, "finish_reason": ENDS[name]})
            events = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [each]}) for each in chunks]
            kind, body = "text/event-stream", "".join(f"data: {each}\n\n" for each in [*events, "[DONE]"])
        else:
            message = {"role": "assistant", "content": None, "refusal": REFUSAL}
            answer = {**head, "object": "chat.completion"}
            answer["choices"] = [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
            kind, body = "application/json", json.dumps(answer)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url, messages = f"http://127.0.0.1:{server.server_port}/v1", [{"role": "user", "content": "Hello"}]


def chat(name: str, **more: object) -> object:
    return litellm.completion(model=f"hosted_vllm/{name}", api_base=url, api_key="none", messages=messages, **more)


async def arguments() -> list[str]:
    """Those of each call in a stream of the Messages API."""
    options = {"api_base": url, "api_key": "none", "max_tokens": 99, "stream": True}
    answer = await litellm.anthropic.messages.acreate(model="hosted_vllm/calls", messages=messages, **options)
    text = b"".join([each async for each in answer]).decode()
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    found = ["" for event in events if event["type"] == "content_block_start"]
    for event in events:
        if event["type"] == "content_block_delta":
            found[event["index"]] += event["delta"]["partial_json"]
    return found


whole = chat("refuses").choices[0].message.get("refusal")
streamed = [chunk.choices[0].delta.get("refusal") for chunk in chat("refuses", stream=True)]
print("refusal, whole:", whole, "| in the chunks of a stream:", streamed)
kept = [call for chunk in chat("calls", stream=True) for call in chunk.choices[0].delta.tool_calls or ()]
kept = ["".join(call.function.arguments for call in kept if call.index == n) for n in (0, 1)]
moved = asyncio.run(arguments())
print("arguments, Chat Completions:", kept, "| Messages:", moved)
assert whole == REFUSAL and not any(streamed)
assert kept == ARGUMENTS and moved == ["", "".join(ARGUMENTS)]
PYTHON
