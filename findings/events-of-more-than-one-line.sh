#!/usr/bin/env bash
# ai21 4.3.0, huggingface_hub 2.4.0 and dashscope 2.0.2 (Python): a valid stream of events breaks where an event is more
# than one line `data: ...`.
#
# An event may have its data in several lines, which are joined with LF, comments between its fields, an `id`, and no
# space behind a colon (HTML Living Standard, "Interpreting an event stream"; its "Authoring notes" advise servers to
# send a comment every 15 seconds). The same chat completion, its JSON in one line or several:
# - ai21 raises StreamingDecodeError for a comment, for an `id`, for `data:{...}` and for data in several lines;
# - huggingface_hub and dashscope read each line of data as an event: a JSONDecodeError, and an answer of many errors
#   with the status 400 that no server sent.
# openai 3.57.0 reads them all. A proxy that keeps a stream alive with comments, as many do, breaks ai21 when it waits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ai21==4.3.0 huggingface_hub==2.4.0 dashscope==2.0.2 openai==3.57.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dashscope
from ai21 import AI21Client
from ai21.models.chat import ChatMessage
from huggingface_hub import InferenceClient
from openai import OpenAI

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
FORMS = {
    "plain": "data: {line}\n\n",
    "comment": ": wait\n\ndata: {line}\n\n",
    "id": "id: 1\ndata: {line}\n\n",
    "no space": "data:{line}\n\n",
    "lines": "{lines}\n\n",
}
form = ""


def event(value: dict) -> str:
    lines = "\n".join(f"data: {line}" for line in json.dumps(value, indent=1).split("\n"))
    return form.format(line=json.dumps(value), lines=lines)


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        message = {"role": "assistant", "content": "One two"}
        if "aigc" in self.path:
            output = {"choices": [{"message": message, "finish_reason": "stop"}]}
            body = event({"output": output, "usage": {"input_tokens": 1, "output_tokens": 1}, "request_id": "r"})
        else:
            choice = {"index": 0, "delta": message, "finish_reason": "stop"}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            body = event(chunk) + "data: [DONE]\n\n"
        self.wfile.write(body.encode())


def join(chunks: object) -> str:
    return "".join(chunk.choices[0].delta.content for chunk in chunks)


def ai21() -> str:
    client = AI21Client(api_key="none", api_host=url, num_retries=0)
    messages = [ChatMessage(role="user", content="Hello")]
    return join(client.chat.completions.create(model="m", messages=messages, stream=True))


def qwen() -> str:
    how = {"result_format": "message", "stream": True, "incremental_output": True}
    parts = list(dashscope.Generation.call(api_key="none", model="qwen-max", messages=ASK["messages"], **how))
    if any(part.status_code != 200 for part in parts):
        return f"{len(parts)} x {parts[0].status_code}"
    return "".join(part.output.choices[0].message.content for part in parts)


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
dashscope.base_http_api_url = f"{url}/api/v1"
hub, openai = InferenceClient(base_url=url, api_key="none"), OpenAI(base_url=url, api_key="none", max_retries=0)
CLIENTS = {
    "ai21": ai21,
    "huggingface_hub": lambda: join(hub.chat.completions.create(**ASK, stream=True)),
    "dashscope": qwen,
    "openai": lambda: join(openai.chat.completions.create(**ASK, stream=True)),
}
seen = {}
for name, client in CLIENTS.items():
    for kind, form in FORMS.items():
        try:
            seen[name, kind] = client()
        except Exception as error:
            seen[name, kind] = type(error).__name__
    print(name, {kind: seen[name, kind] for kind in FORMS})
refused = {key: outcome for key, outcome in seen.items() if outcome != "One two"}
many = refused.pop(("dashscope", "lines"))
assert many.endswith(" x 400") and int(many.split()[0]) > 9, many
assert refused == {
    **{("ai21", kind): "StreamingDecodeError" for kind in FORMS if kind != "plain"},
    ("huggingface_hub", "lines"): "JSONDecodeError",
}, refused
PYTHON
