#!/usr/bin/env bash
# sseclient-py 1.9.0 and mistralai 3.7.0 (Python) and parse-sse 0.1.0 (npm): an event that a broken connection has cut is
# given to the program as a whole one.
#
# An event ends with an empty line; what is pending when the stream ends is discarded (HTML Living Standard, 9.2.6). These
# clients dispatch it: of "Take 10 mg" arrives "Take 1", and nothing says that there was more. A stream of JSON that ends
# inside of an event fails with an error of the JSON parser in place of one of the connection; with mistralai a chunk
# whose empty line did not arrive is yielded. httpx-sse 0.4.3, openai 3.57.0 and groq 1.7.0 (Python) and
# eventsource-parser 4.1.3 (npm) discard it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund parse-sse@0.1.0 eventsource-parser@4.1.3
python3 -m venv venv
packages="sseclient-py==1.9.0 mistralai==3.7.0 httpx-sse==0.4.3 openai==3.57.0 groq==1.7.0 requests==2.34.2"
venv/bin/pip install --quiet $packages
cat >read.mjs <<'JAVASCRIPT'
import { createParser } from "eventsource-parser";
import { parseServerSentEvents } from "parse-sse";

const outcomes = { "parse-sse": [], "eventsource-parser": [] };
for await (const event of parseServerSentEvents(await fetch(process.argv[2]))) outcomes["parse-sse"].push(event.data);
const parser = createParser({ onEvent: (event) => outcomes["eventsource-parser"].push(event.data) });
parser.feed(await (await fetch(process.argv[2])).text());
console.log(JSON.stringify(outcomes));
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import requests
import sseclient
from groq import Groq
from httpx_sse import connect_sse
from mistralai.client import Mistral
from openai import OpenAI


def chunk(text: str) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(value)}\n"


STREAMS = {"GET": "data: Hello.\n\ndata: Take 10 mg\n\n", "POST": f"{chunk('Hello.')}\n{chunk(' Take 10 mg')}\n"}
missing = 0


class Upstream(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        stream = STREAMS[self.command]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        lost = 1 if missing and self.command == "POST" else missing
        self.wfile.write(stream[: len(stream) - lost].encode())

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
MESSAGES = [{"role": "user", "content": "How much?"}]


def read_httpx_sse() -> list[str]:
    with httpx.Client() as client, connect_sse(client, "GET", url) as source:
        return [event.data for event in source.iter_sse()]


def read_sseclient() -> list[str]:
    return [event.data for event in sseclient.SSEClient(requests.get(url, stream=True)).events()]


def chat(client: OpenAI | Groq) -> list[str]:
    chunks = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    return [each.choices[0].delta.content for each in chunks]


def chat_mistral() -> list[str]:
    events = Mistral(api_key="x", server_url=url).chat.stream(model="m", messages=MESSAGES)
    return [event.data.choices[0].delta.content for event in events]


def outcomes() -> dict[str, list[str]]:
    node = json.loads(subprocess.check_output(["node", "read.mjs", url], text=True))
    python = {"sseclient-py": read_sseclient(), "httpx-sse": read_httpx_sse(), "mistralai": chat_mistral()}
    openai = {"openai": chat(OpenAI(base_url=url, api_key="x")), "groq": chat(Groq(base_url=url, api_key="x"))}
    return python | openai | node


CUT = {"sseclient-py": ["Hello.", "Take 1"], "parse-sse": ["Hello.", "Take 1"], "mistralai": ["Hello.", " Take 10 mg"]}
for missing in (0, len("0 mg\n\n")):
    seen = outcomes()
    print("cut:" if missing else "whole:", seen)
    for name, texts in seen.items():
        whole = ["Hello.", " Take 10 mg" if name in ("openai", "groq", "mistralai") else "Take 10 mg"]
        assert texts == (CUT.get(name, ["Hello."]) if missing else whole), (name, texts)
PYTHON
