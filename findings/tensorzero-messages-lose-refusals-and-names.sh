#!/usr/bin/env bash
# TensorZero 2026.6.0, its OpenAI-compatible endpoint: valid messages reach the model without a part, or elsewhere.
#
# 1. An assistant's message with a `refusal`, and `content` null, vanishes as a whole: two messages of the user follow
#    one another, and the model, which sees no refusal, is asked once more. openai-python returns such messages, and a
#    chat goes on with them.
# 2. The `name` of a message, with which the model can "differentiate between participants of the same role" (OpenAI API
#    reference, "Create chat completion"), is dropped: of several people, none can be told from another.
# 3. A `developer` message becomes a `system` message, and one between other messages moves to the front, into the
#    first: an instruction that began with the third message holds from the beginning. The log has a warning.
#
# Of 1 and 2 the log says nothing, and `tensorzero::deny_unknown_fields`, with which a request with a field that is not
# known is refused, is for fields beside `messages` alone.
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

ANN, BO = ({"role": "user", "content": "Tea or coffee?", "name": name} for name in ("Ann", "Bo"))
REFUSED = {"role": "assistant", "content": None, "refusal": "I do not choose."}
BRIEF, FRENCH = ({"role": "developer", "content": content} for content in ("Be brief.", "From here on, speak French."))


def arrived(*messages: dict) -> list[dict]:
    """What these messages are at the upstream."""
    deny = {"tensorzero::deny_unknown_fields": True}
    client.chat.completions.create(model="tensorzero::model_name::m", messages=messages, extra_body=deny)
    return requests[-1]["messages"]


refusal, names, rules = arrived(ANN, REFUSED, ANN), arrived(ANN, BO), arrived(BRIEF, ANN, FRENCH, BO)
for number, messages in enumerate((refusal, names, rules), 1):
    print(f"{number}.", json.dumps(messages))
bare = {"role": "user", "content": "Tea or coffee?"}
assert refusal == names == [bare, bare]
assert rules == [{"role": "system", "content": "Be brief.\nFrom here on, speak French."}, bare, bare]
PYTHON
