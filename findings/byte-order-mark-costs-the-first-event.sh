#!/usr/bin/env bash
# openai 3.57.0, groq 1.7.0, together 3.1.1, fireworks-ai 1.2.30, cohere 7.3.1, huggingface_hub 2.4.0, dashscope 2.0.2,
# httpx-sse 0.4.3 and sseclient-py 1.9.0 (Python): a stream that begins with a byte order mark loses its first event,
# without an error.
#
# One U+FEFF may stand at the beginning of an event stream, and is stripped (HTML Living Standard, "Parsing an event
# stream": the stream's grammar begins with an optional bom, which decoding as UTF-8 removes). To these clients the
# name of the first field is "\ufeffdata", which they ignore as an unknown field: the answer begins with its second
# piece. mistralai 3.7.0 has all of it, and so has eventsource-parser 4.1.3 (npm) behind a TextDecoderStream.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="openai==3.57.0 groq==1.7.0 together==3.1.1 fireworks-ai==1.2.30 huggingface_hub==2.4.0 dashscope==2.0.2"
"$folder/venv/bin/pip" install --quiet $packages httpx-sse==0.4.3 sseclient-py==1.9.0 mistralai==3.7.0 cohere==7.3.1
cd "$folder"
npm install --silent --no-audit --no-fund eventsource-parser@4.1.3
cat >parse.mjs <<'JAVASCRIPT'
import { EventSourceParserStream } from "eventsource-parser/stream";
const { body } = await fetch(process.argv[2]);
let text = "";
for await (const { data } of body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
  if (data !== "[DONE]") text += JSON.parse(data).choices[0].delta.content;
}
console.log(text);
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dashscope
import httpx
import requests
from cohere import ClientV2
from fireworks import Fireworks
from groq import Groq
from httpx_sse import connect_sse
from huggingface_hub import InferenceClient
from mistralai.client import Mistral
from openai import OpenAI
from sseclient import SSEClient
from together import Together

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
mark = ""


def chunk(text: str) -> dict:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def qwen(text: str) -> dict:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "null"}
    return {"output": {"choices": [choice]}, "usage": {"input_tokens": 1, "output_tokens": 1}, "request_id": "r"}


def command(text: str) -> dict:
    return {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_GET(self) -> None:
        event = qwen if "aigc" in self.path else command if self.path == "/v2/chat" else chunk
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        body = mark + "".join(f"data: {json.dumps(event(text))}\n\n" for text in ("One", " two"))
        self.wfile.write(body.encode() + (b"data: [DONE]\n\n" if event is chunk else b""))

    do_POST = do_GET


def join(events: object) -> str:
    return "".join(event.choices[0].delta.content for event in events)


def parsed(texts: object) -> str:
    return "".join(json.loads(text)["choices"][0]["delta"]["content"] for text in texts if text != "[DONE]")


def with_httpx_sse() -> str:
    with httpx.Client() as client, connect_sse(client, "GET", url) as source:
        return parsed([event.data for event in source.iter_sse()])


def with_dashscope() -> str:
    how = {"result_format": "message", "stream": True, "incremental_output": True}
    parts = dashscope.Generation.call(api_key="none", model="qwen-max", messages=ASK["messages"], **how)
    return "".join(part.output.choices[0].message.content for part in parts)


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
dashscope.base_http_api_url = f"{url}/api/v1"
LIKE_OPENAI = {
    "openai": OpenAI(api_key="none", base_url=url, max_retries=0),
    "groq": Groq(api_key="none", base_url=url, max_retries=0),
    "together": Together(api_key="none", base_url=url, max_retries=0),
    "fireworks-ai": Fireworks(api_key="none", base_url=url, max_retries=0),
    "huggingface_hub": InferenceClient(base_url=url, api_key="none"),
}
cohere, mistral = ClientV2(api_key="none", base_url=url), Mistral(api_key="none", server_url=url)
for mark in ("", "\ufeff"):
    lost = {name: join(client.chat.completions.create(**ASK, stream=True)) for name, client in LIKE_OPENAI.items()}
    lost["dashscope"], lost["httpx-sse"] = with_dashscope(), with_httpx_sse()
    lost["sseclient-py"] = parsed([event.data for event in SSEClient(requests.get(url, stream=True)).events()])
    kept = {"mistralai": join(event.data for event in mistral.chat.stream(**ASK))}
    lost["cohere"] = "".join(event.delta.message.content.text for event in cohere.chat_stream(**ASK))
    kept["eventsource-parser"] = subprocess.check_output(["node", "parse.mjs", url], text=True).strip("\n")
    print("with the mark:" if mark else "without it:", lost, kept)
    assert set(kept.values()) == {"One two"}
    assert set(lost.values()) == {" two" if mark else "One two"}
PYTHON
