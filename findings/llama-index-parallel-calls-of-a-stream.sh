#!/usr/bin/env bash
# llama-index-llms-openai 0.8.3: of tool calls in a stream, one is lost, or pieces become calls without a name.
#
# A delta of Chat Completions has a list of tool calls, and each piece names its call by `index` (OpenAI API reference,
# "chat completion chunk"); servers send two whole calls in one chunk, or pieces of both in turns. With
# `allow_parallel_tool_calls=True`, of two calls in one chunk the second is never seen, and pieces that come in turns
# are six calls, four of them without id and name. A call that ends in the middle of a string (`finish_reason: length`)
# is given to the tool as `city=None`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet llama-index-llms-openai==0.8.3 llama-index-core==0.14.25
cd "$folder"
venv/bin/python - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI


def call(index: int, text: str, identifier: str = "") -> dict:
    head = {"id": identifier, "type": "function"} if identifier else {}
    name = {"name": "weather"} if identifier else {}
    return {"index": index, **head, "function": {**name, "arguments": text}}


ROME, OSLO = '{"city": "Rome"}', '{"city": "Oslo"}'
STREAMS = {
    "one chunk": [[call(0, ROME, "call_a"), call(1, OSLO, "call_b")]],
    "in turns": [
        [call(0, "", "call_a")],
        [call(1, "", "call_b")],
        *([call(at, piece)] for half in (slice(9), slice(9, None)) for at, piece in enumerate((ROME[half], OSLO[half]))),
    ],
    "length": [[call(0, '{"city": "Ro', "call_a")]],
}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = request["messages"][-1]["content"]
        deltas = [{"role": "assistant", "content": None}, *({"tool_calls": calls} for calls in STREAMS[name]), {}]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for at, delta in enumerate(deltas):
            reason = ("length" if name == "length" else "tool_calls") if at == len(deltas) - 1 else None
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def weather(city: str) -> str:
    """The weather of a city."""
    return city


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
model = OpenAI(model="gpt-4o", api_base=url, api_key="none", max_retries=0)
seen = {}
for name in STREAMS:
    *_, last = model.stream_chat_with_tools(
        [FunctionTool.from_defaults(weather)], user_msg=name, allow_parallel_tool_calls=True
    )
    calls = model.get_tool_calls_from_response(last, error_on_no_tool_call=False)
    seen[name] = [(each.tool_name, each.tool_kwargs) for each in calls]
    print(f"{name}: {seen[name]}")
assert seen["one chunk"] == [("weather", {"city": "Rome"})]
assert len(seen["in turns"]) == 6 and [name for name, _ in seen["in turns"]].count("") == 4
assert ("weather", {"city": "Rome"}) not in seen["in turns"]
assert seen["length"] == [("weather", {"city": None})]
PYTHON
