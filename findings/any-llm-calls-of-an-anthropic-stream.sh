#!/usr/bin/env bash
# any-llm-sdk 1.40.2 (Python): what it streams of an Anthropic model is no Chat Completions stream where the model calls a
# tool.
#
# The pieces of a call have the `index` of the call in `tool_calls`, the first has its id and name, and the `arguments` are
# JSON when all is there (OpenAI API reference, "chat completion chunk"). any-llm takes the index of Anthropic's content
# block for that of the call:
# - Text comes before a call, as most answers have it: the first call has the index 1. The accumulator of openai 3.3.0,
#   ChatCompletionStreamState, raises IndexError.
# - A search, which Anthropic runs itself (`server_tool_use`; "Web search tool", streaming), is a call without id and name
#   whose arguments are the query, while the finish reason is "stop".
# - A call of a tool without parameters has the arguments "", which is no JSON; of the whole answer it has "{}".
# litellm 1.110.2 gives the calls of the same streams the index 0, leaves out the search, and ends with "{}".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet any-llm-sdk==1.40.2 anthropic==0.125.0 openai==3.3.0 litellm==1.110.2
cd "$folder"
export LITELLM_LOCAL_MODEL_COST_MAP=True
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import any_llm
import litellm
from openai.lib.streaming.chat import ChatCompletionStreamState

BEGIN = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
BEGIN |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
TEXT = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "Let me see."})
RESULTS = [{"type": "web_search_result", "url": "http://a.example", "title": "A", "encrypted_content": "e", "page_age": None}]
RESULT = ({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": RESULTS},)


def tool(kind: str, key: str, name: str, *pieces: str) -> tuple[dict, ...]:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return ({"type": kind, "id": key, "name": name, "input": {}}, *deltas)


CALL = tool("tool_use", "toolu_1", "weather", "", '{"city": "Oslo"}')
SEARCH = tool("server_tool_use", "srvtoolu_1", "web_search", "", '{"query": "weather"}')
ANSWERS = {
    "call": ("tool_use", CALL),
    "text and call": ("tool_use", TEXT, CALL),
    "search and text": ("end_turn", SEARCH, RESULT, TEXT),
    "call without arguments": ("tool_use", tool("tool_use", "toolu_1", "now", "")),
}


def events(stop: str, *blocks: tuple[dict, ...]) -> Iterable[dict]:
    yield {"type": "message_start", "message": BEGIN}
    for index, (first, *deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": first}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


class Upstream(BaseHTTPRequestHandler):
    answer = ""
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events(*ANSWERS[self.answer]):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


litellm.suppress_debug_info = True
server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
request = {"messages": [{"role": "user", "content": "Weather?"}], "max_tokens": 9, "stream": True}


def read(chunks: Iterable) -> tuple[list[tuple], object]:
    pieces, state, error = [], ChatCompletionStreamState(), ""
    for chunk in chunks:
        for call in (chunk.choices[0].delta.tool_calls if chunk.choices else None) or ():
            pieces.append((call.index, call.id, call.function.name, call.function.arguments))
        try:
            error or state.handle_chunk(chunk)
        except IndexError as raised:
            error = repr(raised)
    first = pieces[0][:3] if pieces else None
    return first, "".join(piece[3] or "" for piece in pieces), error


seen = {}
for name in ANSWERS:
    Upstream.answer = name
    seen[name] = read(any_llm.completion(model="m", provider="anthropic", api_key="none", api_base=url, **request))
    other = list(litellm.completion(model="anthropic/m", api_key="none", api_base=url, **request))
    calls = [call for chunk in other for call in chunk.choices[0].delta.tool_calls or ()]
    indexes, arguments = {call.index for call in calls}, "".join(call.function.arguments or "" for call in calls)
    print(f"{name}: any-llm {seen[name]}, litellm {indexes} {arguments!r}")
    assert indexes == (set() if name.startswith("search") else {0})
    assert not calls or json.loads(arguments) in ({}, {"city": "Oslo"})
assert seen == {
    "call": ((0, "toolu_1", "weather"), '{"city": "Oslo"}', ""),
    "text and call": ((1, "toolu_1", "weather"), '{"city": "Oslo"}', "IndexError('list index out of range')"),
    "search and text": ((0, None, None), '{"query": "weather"}', ""),
    "call without arguments": ((0, "toolu_1", "now"), "", ""),
}, seen
PYTHON
