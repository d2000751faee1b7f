#!/usr/bin/env bash
# TensorZero 2026.6.0, its OpenAI-compatible endpoint: whatever status a provider refuses with, the caller gets 502.
#
# The error's `type`, `code` and `param` and the answer's `Retry-After` are gone; left is a sentence with the provider's
# body in it. OpenAI's client libraries go by the status (README of openai-python, "Handling errors" and "Retries"): 400
# is a `BadRequestError`, never sent again, 429 a `RateLimitError`, sent again after `Retry-After`. Through TensorZero,
# openai-python 3.57.0:
# - sends a request that the provider will never take, such as one that is too long for the model, three times;
# - waits by a schedule of its own, not the time that the provider asks for, before it sends a limited request again;
# - raises `InternalServerError` for both, without a `code`: handlers for limits and for long chats are never called.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorzero==2026.6.0 openai==3.57.0
cd "$folder"
RUST_LOG=off venv/bin/python -W ignore::DeprecationWarning - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from openai import APIStatusError, OpenAI
from tensorzero import patch_openai_client

LIMIT = {"message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
LONG = {"message": "Too long.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
ERRORS, requests = {"limited": (429, LIMIT), "long": (400, LONG)}, []


class Upstream(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        status, error = ERRORS[requests[-1]["messages"][0]["content"]]
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"error": error}).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
Path("tensorzero.toml").write_text(f"""
gateway = {{ observability.enabled = false, disable_pseudonymous_usage_analytics = true }}
models.m.routing = ["up"]
[models.m.providers.up]
type = "openai"
model_name = "m"
api_key_location = "none"
api_base = "http://127.0.0.1:{server.server_port}/v1/"
""")
direct = OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
gateway = patch_openai_client(OpenAI(api_key="none"), config_file="tensorzero.toml", async_setup=False)


def raised(client: OpenAI, model: str, text: str) -> tuple:
    """What a chat with the text comes to: exception, status, code, Retry-After, requests at the provider."""
    requests.clear()
    try:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}])
    except APIStatusError as error:
        wait = error.response.headers.get("Retry-After")
        return type(error).__name__, error.status_code, error.code, wait, len(requests)
    raise AssertionError("no error")


seen = {}
for text in ERRORS:
    seen[text] = raised(direct, "m", text), raised(gateway, "tensorzero::model_name::m", text)
    print(text, "| direct:", *seen[text][0], "| through TensorZero:", *seen[text][1])
lost = "InternalServerError", 502, None, None, 3
assert seen["limited"] == (("RateLimitError", 429, "rate_limit_exceeded", "1", 3), lost)
assert seen["long"] == (("BadRequestError", 400, "context_length_exceeded", None, 1), lost)
PYTHON
