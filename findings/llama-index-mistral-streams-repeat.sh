#!/usr/bin/env bash
# llama-index-llms-mistralai 0.11.0: the message of a streamed answer has the text once for each chunk.
#
# Each chunk of Mistral's stream has a delta, and the answer is their sum (Mistral API reference, "Chat Completion",
# streaming). The message of `stream_chat` gets one more block for each chunk, with all of the text so far, and its
# content joins them: "One two three." comes as "One ", "One two", "One two three.", each in a line. The deltas are
# right, and `chat` has the text once. Who keeps that message as the turn of the assistant, as agents do, lets the model
# read, and the user pay for, a text that grows with the square of its length.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="llama-index-llms-mistralai==0.11.0 llama-index-core==0.14.25 mistralai==3.7.0"
"$folder/venv/bin/pip" install --quiet $packages
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llama_index.core.llms import ChatMessage
from llama_index.llms.mistralai import MistralAI

BASE = {"id": "c", "created": 1, "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}}
DELTAS = [{"role": "assistant", "content": "One "}, {"content": "two"}, {"content": " three."}]


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = ""
        for at, delta in enumerate(DELTAS, 1):
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if at == len(DELTAS) else None}
            body += f"data: {json.dumps({**BASE, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
        if not request.get("stream"):
            message = {"role": "assistant", "content": "".join(delta["content"] for delta in DELTAS)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({**BASE, "object": "chat.completion", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.end_headers()
        self.wfile.write(body.encode() + (b"data: [DONE]\n\n" if request.get("stream") else b""))


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
model = MistralAI(model="mistral-large-latest", api_key="none", endpoint=url, max_retries=0)
whole = model.chat([ChatMessage(role="user", content="Count.")]).message.content
parts = list(model.stream_chat([ChatMessage(role="user", content="Count.")]))
text, deltas = parts[-1].message.content, "".join(part.delta for part in parts)
print("chat:", repr(whole), "| deltas:", repr(deltas), "| message of the stream:", repr(text))
assert whole == deltas == "One two three."
assert text == "One \nOne two\nOne two three."
PYTHON
