#!/usr/bin/env bash
# LiteLLM 1.108.7, its proxy: a model with `mock_response` streams in Chat Completions only. In the Messages and the
# Responses API a request with `"stream": true` gets no stream.
#
# LiteLLM's documentation ("Mock Completion() Responses") says that a mocked answer works for streaming as well.
# - `/v1/messages` answers 200 with one JSON document, not server-sent events. anthropic-python 2.14.0 finds no event
#   in it, and the end of `messages.stream` is an AssertionError without a text.
# - `/v1/responses` answers 500, in server-sent events, with "Error processing stream start": the log has an
#   AttributeError, because the mocked answer is not iterable. openai-python 3.57.0 raises InternalServerError.
#
# So a mock that passes for tests of Chat Completions says nothing about the streams of the other two.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'litellm[proxy]==1.108.7' anthropic==2.14.0 openai==3.57.0
cat >"$folder/litellm.yaml" <<'YAML'
model_list:
  - model_name: mocked
    litellm_params: {model: openai/mocked, api_key: none, mock_response: "Hello there."}
general_settings: {master_key: sk-example}
YAML
PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PORT LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/litellm" --config "$folder/litellm.yaml" --host 127.0.0.1 --port "$PORT" >"$folder/log" 2>&1 &
server=$!
"$folder/venv/bin/python" - <<'PYTHON'
import os
import time

import httpx
from anthropic import Anthropic
from openai import InternalServerError, OpenAI

URL, KEY = f"http://127.0.0.1:{os.environ['PORT']}", "sk-example"
MESSAGES = [{"role": "user", "content": "Hello"}]
BODIES = {
    "chat/completions": {"messages": MESSAGES},
    "messages": {"messages": MESSAGES, "max_tokens": 9},
    "responses": {"input": "Hello"},
}
for _ in range(400):
    try:
        if httpx.get(f"{URL}/health/liveliness").is_success:
            break
    except httpx.TransportError:
        pass
    time.sleep(1)

seen = {}
for path, body in BODIES.items():
    body = {"model": "mocked", "stream": True, **body}
    answer = httpx.post(f"{URL}/v1/{path}", json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
    kind = answer.headers["Content-Type"].partition(";")[0]
    seen[path] = answer.status_code, kind
    print(path, *seen[path], answer.text.strip()[:120])

raised = []
try:
    with Anthropic(base_url=URL, api_key=KEY, max_retries=0).messages.stream(
        model="mocked", max_tokens=9, messages=MESSAGES
    ) as stream:
        stream.get_final_message()
except AssertionError as error:
    raised.append(type(error).__name__)
try:
    OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0).responses.create(
        model="mocked", input="Hello", stream=True
    )
except InternalServerError as error:
    raised.append(type(error).__name__)
print("raised by anthropic-python and openai-python:", raised)
assert seen["chat/completions"] == (200, "text/event-stream")
assert seen["messages"] == (200, "application/json")
assert seen["responses"] == (500, "text/event-stream")
assert raised == ["AssertionError", "InternalServerError"]
PYTHON
