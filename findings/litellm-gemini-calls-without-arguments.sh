#!/usr/bin/env bash
# litellm 1.110.2 (Python): a call of Gemini to a function without parameters is an error, whole and in a stream.
#
# `args` is an optional member of FunctionCall (Gemini API reference, "FunctionCall": "Optional"),
# and a call without arguments has none. litellm raises BadRequestError, 'Error converting to valid response block='args'',
# for the whole answer, which came with status 200, and MidStreamFallbackError in the middle of a stream, behind the text.
# So a tool such as `now()` ends the run, and a router takes the error for a fault of the request.
# With `"args": {}` both are read as "{}". google-genai 3.6.1 reads both alike.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet litellm==1.110.2 google-genai==3.6.1
LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import litellm
from google import genai

CALLS = {"none": {"name": "now"}, "empty": {"name": "now", "args": {}}}
USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}


def event(part: dict, **more: object) -> dict:
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **more}], "usageMetadata": USAGE}


class Gemini(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        call = {"functionCall": CALLS[next(name for name in CALLS if name in self.path)]}
        events = [event({"text": "Let me see."}), event(call, finishReason="STOP")]
        stream = "streamGenerateContent" in self.path
        whole = json.dumps(event(call, finishReason="STOP"))
        body = "".join(f"data: {json.dumps(each)}\r\n\r\n" for each in events) if stream else whole
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


def outcome(function: object) -> object:
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]


def arguments(name: str, **options: object) -> str:
    messages = [{"role": "user", "content": "Hello"}]
    request = {"model": f"gemini/{name}", "messages": messages, "api_base": f"{base}/{name}", "api_key": "none"}
    response = litellm.completion(**request, **options)
    whole = litellm.stream_chunk_builder(list(response)) if options else response
    return whole.choices[0].message.tool_calls[0].function.arguments


server = ThreadingHTTPServer(("127.0.0.1", 0), Gemini)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
litellm.suppress_debug_info = True
seen = {name: [outcome(lambda: arguments(name)), outcome(lambda: arguments(name, stream=True))] for name in CALLS}
client = genai.Client(api_key="none", http_options={"base_url": base})
google = [client.models.generate_content(model=name, contents="Hello").function_calls[0].args or {} for name in CALLS]
print(seen, "google-genai:", google)
assert seen["empty"] == ["{}", "{}"] and google == [{}, {}]
assert seen["none"][0].startswith("BadRequestError") and "block='args'" in seen["none"][0]
assert seen["none"][1].startswith("MidStreamFallbackError") and "'args'" in seen["none"][1]
PYTHON
