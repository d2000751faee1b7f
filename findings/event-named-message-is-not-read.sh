#!/usr/bin/env bash
# together 3.1.1 and cerebras_cloud_sdk 1.91.0 (Python), together-ai 0.52.0, portkey-ai 3.1.0 and
# @cerebras/cerebras_cloud_sdk 1.91.0 (npm): a stream whose events say that they are messages is an empty answer.
#
# `message` is the type of an event without a field `event`, so `event: message` says nothing new (HTML Living Standard,
# 9.2.6: an event is created with the type message, which the buffer of the event type changes only if it is not empty).
# - Both libraries of Together, and Portkey's for npm, read events without a name only: the iterator ends at once,
#   without an error, as if the model had nothing to say.
# - Those of Cerebras yield `{event, data}` in place of a chunk: its `choices` are None and undefined.
# portkey_ai 2.3.4 (Python), and openai 7.59.0 and groq-sdk 1.6.0 (npm), read both alike. better-sse 0.16.1 (npm) writes
# the name with each event, so a server made with it is fine for one client and silent for the next.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet together==3.1.1 cerebras_cloud_sdk==1.91.0 portkey_ai==2.3.4
cd "$folder"
packages="together-ai@0.52.0 portkey-ai@3.1.0 @cerebras/cerebras_cloud_sdk@1.91.0 openai@7.59.0 groq-sdk@1.6.0"
npm install --silent --no-audit --no-fund $packages
cat >clients.mjs <<'JAVASCRIPT'
import Cerebras from "@cerebras/cerebras_cloud_sdk";
import Groq from "groq-sdk";
import OpenAI from "openai";
import { Portkey } from "portkey-ai";
import Together from "together-ai";
const [, , baseURL] = process.argv;
const options = { apiKey: "none", baseURL, maxRetries: 0 };
const clients = {
  together: new Together(options),
  portkey: new Portkey({ apiKey: "none", baseURL, provider: "openai" }),
  cerebras: new Cerebras({ ...options, warmTCPConnection: false }),
  openai: new OpenAI(options),
  groq: new Groq(options),
};
const ask = { model: "m", messages: [{ role: "user", content: "Hello" }], stream: true };
const seen = {};
for (const [name, client] of Object.entries(clients)) {
  try {
    seen[name] = "";
    for await (const chunk of await client.chat.completions.create(ask)) seen[name] += chunk.choices[0].delta.content;
  } catch (error) {
    seen[name] = error.name;
  }
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cerebras.cloud.sdk import Cerebras
from portkey_ai import Portkey
from together import Together

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
name = ""


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for text in ("One ", "two"):
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            self.wfile.write(f"{name}data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(f"{name}data: [DONE]\n\n".encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
clients = {
    "together": Together(api_key="none", base_url=url, max_retries=0),
    "cerebras": Cerebras(api_key="none", base_url=url, max_retries=0, warm_tcp_connection=False),
    "portkey": Portkey(api_key="none", base_url=url, provider="openai"),
}
for name in ("", "event: message\n"):
    python = {}
    for client, library in clients.items():
        deltas = [chunk.choices and chunk.choices[0].delta for chunk in library.chat.completions.create(**ASK)]
        texts = [delta and (delta["content"] if isinstance(delta, dict) else delta.content) for delta in deltas]
        python[client] = "".join(texts) if all(texts) else texts[:2]
    npm = json.loads(subprocess.check_output(["node", "clients.mjs", url], text=True))
    print(name.strip() or "without a name:", python, npm)
    text = "One two"
    if name:
        assert python == {"together": "", "cerebras": [None, None], "portkey": text}, python
        assert npm == {"together": "", "portkey": "", "cerebras": "TypeError", "openai": text, "groq": text}, npm
    else:
        assert {*python.values(), *npm.values()} == {text}, (python, npm)
PYTHON
