#!/usr/bin/env bash
# strands-agents 1.62.0 and llama-index-llms-anthropic 0.12.3: redacted thinking is not sent back.
#
# Anthropic asks that the thinking blocks of a turn that calls a tool come back complete and unmodified with its
# result, `redacted_thinking` included (documentation of extended thinking, "Preserving thinking blocks"). An agent of
# strands sends the turn back with the plain thinking and without the redacted one; the messages that LlamaIndex makes of
# the same answer, whole and as a stream, have the plain thinking alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "strands-agents[anthropic]==1.62.0" llama-index-llms-anthropic==0.12.3
cd "$folder"
venv/bin/python - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llama_index.core.llms import ChatMessage
from llama_index.llms.anthropic import Anthropic
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel

BLOCKS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
]
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
USAGE = {"input_tokens": 5, "output_tokens": 7}
EMPTY = {"thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
DELTAS = {
    "thinking": [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "c2ln"},
    ],
    "tool_use": [{"type": "input_json_delta", "partial_json": "{}"}],
    "text": [{"type": "text_delta", "text": "Sunny."}],
}
requests = []


def events(blocks: list, reason: str) -> list:
    lines = [{"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None, "usage": USAGE}}]
    for at, block in enumerate(blocks):
        lines.append({"type": "content_block_start", "index": at, "content_block": block | EMPTY.get(block["type"], {})})
        lines += [{"type": "content_block_delta", "index": at, "delta": each} for each in DELTAS.get(block["type"], [])]
        lines.append({"type": "content_block_stop", "index": at})
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [*lines, {"type": "message_delta", "delta": delta, "usage": USAGE}, {"type": "message_stop"}]


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        requests.append(request)
        answered = "tool_result" in json.dumps(request["messages"])
        blocks, reason = ([{"type": "text", "text": ""}], "end_turn") if answered else (BLOCKS, "tool_use")
        streams = request.get("stream")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        lines = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events(blocks, reason)]
        whole = {**MESSAGE, "content": blocks, "stop_reason": reason, "usage": USAGE}
        self.wfile.write(("".join(lines) if streams else json.dumps(whole)).encode())


@tool
def weather() -> str:
    """The weather here."""
    return "sunny"


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
model = AnthropicModel(client_args={"base_url": url, "api_key": "none", "max_retries": 0}, model_id="m", max_tokens=99)
Agent(model=model, tools=[weather], callback_handler=None)("How is the weather?")
turn = next(each for each in requests[-1]["messages"] if each["role"] == "assistant")
kinds = [block["type"] for block in turn["content"]]
print(f"strands-agents sends back: {kinds}")
assert kinds == ["thinking", "tool_use"]

chat = Anthropic(model="claude-sonnet-4-5", base_url=url, api_key="none", max_retries=0)
question = [ChatMessage(role="user", content="How is the weather?")]
*_, streamed = chat.stream_chat(question)
for name, answer in (("whole", chat.chat(question)), ("stream", streamed)):
    blocks = [block.block_type for block in answer.message.blocks]
    print(f"llama-index-llms-anthropic, {name}: {blocks}")
    assert blocks == ["thinking", "tool_call"] and "cmVkYWN0ZWQ=" not in repr(answer.message)
PYTHON
