#!/usr/bin/env bash
# LiteLLM 1.108.7, its proxy: an error of an OpenAI model comes without its `code`, and without `Retry-After`.
#
# Both sides speak Chat Completions. The `code` becomes the status as a string: "429" for `rate_limit_exceeded` as for
# `insufficient_quota`, which no waiting helps, "400" for `context_length_exceeded` (OpenAI's documentation, "Error
# codes"). `Retry-After` (RFC 9110, 10.2.3) becomes `llm_provider-retry-after`, which openai-python 3.57.0 does not
# read: through the proxy it sends a limited request again by a schedule of its own.
# A caller that shortens a chat that is too long, or stops when there is no money, has to search in the message for why.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'litellm[proxy]==1.108.7' openai==3.57.0
read -r PORT UPSTREAM < <(python3 -c 'from socket import create_server
print(*(each.getsockname()[1] for each in [create_server(("127.0.0.1", 0)) for _ in range(2)]))')
cat >"$folder/litellm.yaml" <<YAML
model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_key: none, api_base: "http://127.0.0.1:$UPSTREAM/v1"}
router_settings: {num_retries: 0}
general_settings: {master_key: sk-example}
YAML
export PORT UPSTREAM LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/litellm" --config "$folder/litellm.yaml" --host 127.0.0.1 --port "$PORT" >"$folder/log" 2>&1 &
server=$!
"$folder/venv/bin/python" - <<'PYTHON'
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from openai import APIStatusError, OpenAI

CODES = {"rate_limit_exceeded": 429, "insufficient_quota": 429, "context_length_exceeded": 400}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None
    def do_POST(self) -> None:
        code = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        self.send_response(CODES[code])
        if CODES[code] == 429:
            self.send_header("Retry-After", "7")
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        error = {"message": "No.", "type": "invalid_request_error", "param": None, "code": code}
        self.wfile.write(json.dumps({"error": error}).encode())


upstream = HTTPServer(("127.0.0.1", int(os.environ["UPSTREAM"])), Upstream)
threading.Thread(target=upstream.serve_forever, daemon=True).start()
direct, proxy = (
    OpenAI(base_url=f"http://127.0.0.1:{os.environ[port]}/v1", api_key="sk-example", max_retries=0)
    for port in ("UPSTREAM", "PORT")
)
for _ in range(400):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{os.environ['PORT']}/health/liveliness").close()
        break
    except OSError:
        time.sleep(1)


def error_of(client: OpenAI, text: str) -> tuple:
    """Status, code and Retry-After of what a chat with the text comes to."""
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    except APIStatusError as error:
        return error.status_code, error.code, error.response.headers.get("Retry-After")


for code, status in CODES.items():
    seen = error_of(direct, code), error_of(proxy, code)
    print(code, "| direct:", *seen[0], "| through LiteLLM:", *seen[1])
    assert seen == ((status, code, "7" if status == 429 else None), (status, str(status), None))
PYTHON
