#!/usr/bin/env bash
# langchain-mistralai 1.1.6: of a tool call that comes in pieces, the tool gets no arguments, and a stream that ends with an
# error is an answer.
#
# 1. A piece of a call names it by its `index`; its `id` and the rest are optional (Mistral API reference, "Chat", ToolCall;
#    OpenAI API reference, "chat completion chunk"). vLLM, with which Mistral's models are deployed, streams the
#    arguments so. To a piece without `id` whose index is 0 ChatMistralAI gives a new id, so that each piece of the first
#    call is a call of its own: `weather` with no arguments at all, and others without a name. The second call, with the
#    index 1, is whole.
# 2. When vLLM fails in the middle, the last event has an `error`. The answer is what came before it, and nothing is raised.
# langchain-openai 1.7.4 reads both calls, and raises the error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet langchain-mistralai==1.1.6 langchain-openai==1.7.4 openai==3.3.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_core.language_models import BaseChatModel
from langchain_mistralai import ChatMistralAI
from langchain_openai import ChatOpenAI
from openai import APIError


def begin(index: int, key: str) -> dict:
    return {"index": index, "id": key, "type": "function", "function": {"name": "weather", "arguments": ""}}


def more(index: int, arguments: str) -> dict:
    return {"index": index, "function": {"arguments": arguments}}


def chunk(delta: dict, finish: str | None = None) -> dict:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


PIECES = [
    *(begin(0, "call00001"), more(0, '{"city": '), more(0, '"Oslo"}')),
    *(begin(1, "call00002"), more(1, '{"city": '), more(1, '"Rome"}')),
]
ERROR = {"error": {"message": "Internal server error", "type": "InternalServerError", "param": None, "code": 500}}
EVENTS = {
    "calls": [*(chunk({"content": "", "tool_calls": [piece]}) for piece in PIECES), chunk({}, "tool_calls")],
    "error": [chunk({"content": "Press the red"}), ERROR],
}


class Upstream(BaseHTTPRequestHandler):
    answer = ""
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in EVENTS[self.answer]:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"


def read(model: BaseChatModel) -> tuple[str, list[tuple]]:
    answer = None
    for each in model.stream("Weather?"):
        answer = each if answer is None else answer + each
    return answer.content, [(call["name"], call["args"]) for call in answer.tool_calls]


mistral = ChatMistralAI(model="m", api_key="none", base_url=url, max_retries=0)
openai = ChatOpenAI(model="m", api_key="none", base_url=url, max_retries=0)
Upstream.answer = "calls"
print("calls of ChatMistralAI:", read(mistral))
print("calls of ChatOpenAI:", read(openai))
assert read(mistral)[1] == [("weather", {}), ("", {}), ("weather", {"city": "Rome"})]
assert read(openai)[1] == [("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})]
Upstream.answer = "error"
print("error:", read(mistral))
assert read(mistral) == ("Press the red", [])
try:
    read(openai)
except APIError as error:
    print("ChatOpenAI raises", repr(error))
    assert str(error) == "Internal server error"
else:
    raise AssertionError("no error")
PYTHON
