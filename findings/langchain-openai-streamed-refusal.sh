#!/usr/bin/env bash
# langchain-openai 1.7.4 (Python) and @langchain/openai 1.6.0 (npm): a refusal of Chat Completions is an empty answer.
#
# A model that refuses says why in `message.refusal`, or in pieces in `delta.refusal`, with `content: null` (OpenAI API
# reference, "chat completion"). In Python the whole answer has it in `additional_kwargs`, the same answer as a stream
# nowhere, neither from `stream` nor from `invoke` with `streaming=True`. In JavaScript neither has it. As the
# `finish_reason` is "stop", nothing tells it from a model that had nothing to say.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet langchain-openai==1.7.4
cd "$folder"
npm install --silent --no-audit --no-fund @langchain/openai@1.6.0 @langchain/core@1.4.0
cat >chat.mjs <<'JAVASCRIPT'
import { ChatOpenAI } from "@langchain/openai";
const chat = new ChatOpenAI({ model: "m", apiKey: "none", maxRetries: 0, configuration: { baseURL: process.argv[2] } });
let streamed;
for await (const chunk of await chat.stream("Hello")) streamed = streamed ? streamed.concat(chunk) : chunk;
console.log(JSON.stringify({ whole: await chat.invoke("Hello"), stream: streamed }));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_openai import ChatOpenAI

HEAD = {"id": "chatcmpl-1", "created": 1, "model": "m"}
WORDS = ("I cannot ", "do that.")
MESSAGE = {"role": "assistant", "content": None, "refusal": "".join(WORDS)}
WHOLE = {**HEAD, "object": "chat.completion"}
WHOLE["choices"] = [{"index": 0, "message": MESSAGE, "finish_reason": "stop", "logprobs": None}]
DELTAS = [{**MESSAGE, "refusal": ""}, *({"refusal": word} for word in WORDS), {}]
CHUNKS = [
    {**HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    for delta in DELTAS
]
CHUNKS[-1]["choices"][0]["finish_reason"] = "stop"


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        streams = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).get("stream")
        events = "".join(f"data: {each}\n\n" for each in [*map(json.dumps, CHUNKS), "[DONE]"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        self.wfile.write((events if streams else json.dumps(WHOLE)).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
chats = [ChatOpenAI(model="m", base_url=url, api_key="none", **more) for more in ({}, {"streaming": True})]
whole, invoked = (chat.invoke("Hello") for chat in chats)
first, *rest = chats[0].stream("Hello")
for name, message in (("whole", whole), ("streaming=True", invoked), ("stream", sum(rest, first))):
    print(f"Python, {name}: content {message.content!r}, {message.additional_kwargs}")
    refused = MESSAGE["refusal"] in repr(message)
    assert message.content == "" and refused == (name == "whole")
node = subprocess.run(["node", "chat.mjs", url], check=True, capture_output=True, text=True).stdout
for name, message in json.loads(node).items():
    print(f"JavaScript, {name}: content {message['kwargs']['content']!r}, {message['kwargs']['additional_kwargs']}")
    assert message["kwargs"]["content"] == "" and MESSAGE["refusal"] not in json.dumps(message)
PYTHON
