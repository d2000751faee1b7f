#!/usr/bin/env bash
# langchain-anthropic 1.7.10: `usage_metadata` of a stream has other tokens than Anthropic counted.
#
# `message_start` has the tokens of the prompt. `message_delta` has those of the output, and may repeat the others: they
# are optional there, and cumulative (Anthropic API reference, "Streaming messages"; the type `MessageDeltaUsage` of
# anthropic 2.14.0).
# 1. Not repeated: the input is 0 tokens. What was read from a cache, and written to it, is lost too.
# 2. More than one `message_delta`, as the reference permits: their output is added up.
#
# The helper of Anthropic's own SDK has the right numbers in both. Costs that are computed from LangChain's are too low
# or too high; a server, or a proxy that writes this format, does well to repeat all counts in one `message_delta`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet langchain-anthropic==1.7.10 anthropic==2.14.0
"$folder/venv/bin/python" - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic import Anthropic
from langchain_anthropic import ChatAnthropic

BEGIN = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
CACHE = {"cache_read_input_tokens": 200, "cache_creation_input_tokens": 30}


def events(repeated: dict, outputs: list[int]) -> list[dict]:
    usage = {"input_tokens": 100, "output_tokens": 1, **CACHE}
    deltas = [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output, **repeated}}
        for output in outputs
    ]
    return [
        {"type": "message_start", "message": {**BEGIN, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
        {"type": "content_block_stop", "index": 0},
        *deltas,
        {"type": "message_stop"},
    ]


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in sent:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
chat = ChatAnthropic(model="m", base_url=url, api_key="none", max_retries=0)
client = Anthropic(base_url=url, api_key="none", max_retries=0)
CASES = {
    "repeated": ({"input_tokens": 100, **CACHE}, [9]),
    "not repeated": ({}, [9]),
    "repeated in two": ({"input_tokens": 100, **CACHE}, [5, 9]),
}
seen = {}
for name, (repeated, outputs) in CASES.items():
    sent = events(repeated, outputs)
    first, *rest = chat.stream("Hello")
    tokens = sum(rest, first).usage_metadata
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hello"}]) as stream:
        usage = stream.get_final_message().usage
    own = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    seen[name] = (tokens["input_tokens"], tokens["output_tokens"]), (own, usage.output_tokens)
    print("{}: LangChain (input, output) {}, Anthropic's SDK {}".format(name, *seen[name]))
assert [own for _, own in seen.values()] == [(330, 9)] * 3
assert [tokens for tokens, _ in seen.values()] == [(330, 9), (0, 9), (660, 14)]
PYTHON
