#!/usr/bin/env bash
# huggingface_hub 2.4.0, ollama 0.6.3, reka-api 3.2.0, zhipuai 2.1.5 and replicate 1.0.7 (Python): a model that writes
# U+2028 or U+0085 into its text breaks the stream, or loses the rest of the piece.
#
# JSON allows both characters in a string as they are (RFC 8259, 7), and encoders of Python with `ensure_ascii=False`,
# Rust and Go write U+0085 so. A line of server-sent events ends with CR, LF or both and nothing else (HTML Living
# Standard, "Parsing an event stream"), and one of JSON lines with LF. These clients read lines with `iter_lines()` of
# httpx, or `splitlines()` of a str, which end one at U+0085, U+2028 and others.
# - huggingface_hub, ollama, reka-api, zhipuai: JSONDecodeError in the middle of the answer.
# - replicate, whose events are plain text: what comes behind the character in an event is gone, without an error.
# groq 1.7.0 and mistralai 3.7.0 give the whole text. Text out of PDF files and web pages is full of such characters.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="huggingface_hub==2.4.0 ollama==0.6.3 reka-api==3.2.0 zhipuai==2.1.5.20250825 replicate==1.0.7"
"$folder/venv/bin/pip" install --quiet $packages groq==1.7.0 mistralai==3.7.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from groq import Groq
from huggingface_hub import InferenceClient
from mistralai.client import Mistral
from ollama import Client
from reka.client import Reka
from replicate.client import Client as Replicate
from zhipuai import ZhipuAI

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
text = ""


def encode(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False)


def answer(path: str) -> tuple[str, str]:
    """The type and the body of what a server of this API streams."""
    if path.endswith("/api/chat"):
        pieces = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False}]
        done = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}
        return "application/x-ndjson", "".join(encode(piece) + "\n" for piece in [*pieces, done])
    if path == "/chat":
        message = {"chunk": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        reka = {"id": "1", "model": "m", "responses": [message], "usage": {"input_tokens": 1, "output_tokens": 1}}
        return "text/event-stream", f"event: message\ndata: {encode(reka)}\n\n"
    if path == "/stream":
        return "text/event-stream", f"event: output\nid: 1:0\ndata: {text}\n\nevent: done\nid: 2:0\ndata: {{}}\n\n"
    if path.endswith("/predictions"):
        urls = {"get": f"{url}/p", "cancel": f"{url}/c", "stream": f"{url}/stream"}
        prediction = {"id": "p", "model": "a/b", "version": "v", "status": "starting", "input": {}, "urls": urls}
        return "application/json", encode({**prediction, "created_at": "2026-01-01T00:00:00Z"})
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return "text/event-stream", f"data: {encode(chunk)}\n\ndata: [DONE]\n\n"


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def do_GET(self) -> None:
        kind, body = answer(self.path)
        self.send_response(201 if kind == "application/json" else 200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
huggingface, mistral = InferenceClient(base_url=url, api_key="none"), Mistral(api_key="none", server_url=url)
groq = Groq(api_key="none", base_url=url, max_retries=0)
zhipu = ZhipuAI(api_key="none.none", base_url=url, max_retries=0)


def openai_text(chunks: object) -> str:
    return "".join(chunk.choices[0].delta.content for chunk in chunks)


CLIENTS = {
    "huggingface_hub": lambda: openai_text(huggingface.chat.completions.create(**ASK, stream=True)),
    "ollama": lambda: "".join(part.message.content for part in Client(host=url).chat(**ASK, stream=True)),
    "reka-api": lambda: "".join(
        part.responses[0].chunk.content for part in Reka(api_key="none", base_url=url).chat.create_stream(**ASK)
    ),
    "zhipuai": lambda: openai_text(zhipu.chat.completions.create(**ASK, stream=True)),
    "replicate": lambda: "".join(map(str, Replicate(api_token="none", base_url=url).stream("a/b", input={}))),
    "groq": lambda: openai_text(groq.chat.completions.create(**ASK, stream=True)),
    "mistralai": lambda: openai_text(event.data for event in mistral.chat.stream(**ASK)),
}
expected = dict.fromkeys(["huggingface_hub", "ollama", "reka-api", "zhipuai"], "JSONDecodeError")
for text in ("One two", "One\u0085two", "One\u2028two"):
    seen = {}
    for name, client in CLIENTS.items():
        try:
            seen[name] = client()
        except Exception as error:
            seen[name] = type(error).__name__
    print(ascii(text), seen)
    wrong = {} if text == "One two" else {**expected, "replicate": "One"}
    assert seen == {**dict.fromkeys(CLIENTS, text), **wrong}
PYTHON
