#!/usr/bin/env bash
# TensorZero 2026.6.0, its OpenAI-compatible endpoint: what a tool answered, and that a tool is strict, reach an OpenAI
# model as something else. Both sides speak Chat Completions.
#
# 1. The `content` of a `tool` message is a string or an array of text parts (OpenAI API reference, "Create chat
#    completion"). The model gets it as JSON once more: `sunny` as `"sunny"` with the quotes, `{"sky": "clear"}` as a
#    JSON string with a backslash before each quote, and of text parts the array itself, braces, types and all.
# 2. `strict` is a member of a tool's `function`, next to `parameters`. It arrives beside `function`, where that page
#    has no such member: for a server that goes by it the tool is not strict, and the arguments need not fit the schema.
#
# Nothing says so. Each step of an agent has a result with more tokens and escapes than the tool gave.
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

from openai import OpenAI
from tensorzero import patch_openai_client

requests = []


class Upstream(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
        answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        answer["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


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
client = patch_openai_client(OpenAI(api_key="none"), config_file="tensorzero.toml", async_setup=False)

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
USER, ASKS = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA, "strict": True}}]


def sent(content: object) -> dict:
    """The request at the upstream for a chat in which a tool answered this."""
    messages = [USER, ASKS, {"role": "tool", "tool_call_id": "call_1", "content": content}]
    client.chat.completions.create(model="tensorzero::model_name::m", messages=messages, tools=TOOLS)
    return requests[-1]


results = ["sunny", '{"sky": "clear"}', [{"type": "text", "text": "sunny"}]]
arrived = [sent(result)["messages"][-1]["content"] for result in results]
for result, text in zip(results, arrived):
    print("1. the tool answered:", result, "| the model gets:", text)
tool = requests[-1]["tools"][0]
print("2. strict in the function of the tool:", "strict" in tool["function"], "| beside it:", tool["strict"])
assert arrived == ['"sunny"', '"{\\"sky\\": \\"clear\\"}"', '[{"type":"text","text":"sunny"}]']
assert tool["strict"] is True and "strict" not in tool["function"]
PYTHON
