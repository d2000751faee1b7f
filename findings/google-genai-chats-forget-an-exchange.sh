#!/usr/bin/env bash
# google-genai 3.6.1 (Python) and @google/genai 3.3.0 (npm): a chat forgets what was said, question and answer, if one
# event of the streamed answer has no part.
#
# Streams have such events: one that only counts tokens (`usageMetadata`), or a last one with `finishReason` and no
# `content`. In the API's description no member of GenerateContentResponse, Candidate and Content is required. The text
# is shown, nothing is raised, and the next `send_message_stream` sends the new message alone. A last event with an
# empty text is remembered. So a proxy that writes this format has to put an empty text where it has no part.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet google-genai==3.6.1
cd "$folder"
npm install --silent --no-audit --no-fund @google/genai@3.3.0
cat >chat.mjs <<'JAVASCRIPT'
import { GoogleGenAI } from "@google/genai";
const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: process.argv[2] } });
const chat = client.chats.create({ model: "m" });
for (const message of ["one", "two"]) {
  for await (const _ of await chat.sendMessageStream({ message }));
}
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google import genai

TEXT = {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "index": 0}
EMPTY = {"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0, "finishReason": "STOP"}
USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
STREAMS = {
    "an empty text at the end": [{"candidates": [TEXT]}, {"candidates": [EMPTY], "usageMetadata": USAGE}],
    "no content at the end": [{"candidates": [TEXT]}, {"candidates": [{"index": 0, "finishReason": "STOP"}]}],
    "tokens in an event of their own": [{"candidates": [{**TEXT, "finishReason": "STOP"}]}, {"usageMetadata": USAGE}],
}
events, sent = [], []


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["contents"])
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"


def run_python() -> None:
    client = genai.Client(api_key="none", http_options={"base_url": url})
    chat = client.chats.create(model="m")
    for message in ("one", "two"):
        list(chat.send_message_stream(message))


def run_javascript() -> None:
    subprocess.run(["node", "chat.mjs", url], check=True)


seen = {}
for name, events in STREAMS.items():
    for language, run in (("Python", run_python), ("JavaScript", run_javascript)):
        run()
        texts = [part["text"] for content in sent[-1] for part in content["parts"]]
        seen[name, language] = texts
        print(f"{name}, {language}: the second request has {texts}")
for language in ("Python", "JavaScript"):
    remembered, *forgotten = (seen[name, language] for name in STREAMS)
    assert remembered == ["one", "Hello.", "", "two"] and forgotten == [["two"], ["two"]]
PYTHON
