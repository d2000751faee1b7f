#!/usr/bin/env bash
# autogen-ext 0.7.5: of a valid Chat Completions stream, the finish reason or some letters of the thought are lost.
#
# 1. The chunk with the `finish_reason` may have the `usage`, too: DeepSeek's and Mistral's streams end with such a chunk
#    (DeepSeek API docs, "Create Chat Completion"; `usage` is an optional member of every chunk of OpenAI's reference,
#    "chat completion chunk"). The result's `finish_reason` is "unknown", so that an answer cut off at the limit
#    ("length") looks like any other. With the usage in a chunk of its own it is right.
# 2. `reasoning_content`, in which DeepSeek and vLLM stream the thinking, becomes the `thought` of the result without the
#    letters of "<think>" at its beginning, and of "</think>" at its end: "hint: it is thin" is ": it is ".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "autogen-ext[openai]==0.7.5" autogen-agentchat==0.7.5 openai==3.57.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from autogen_core.models import CreateResult, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

BASE = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


def chunk(delta: dict, reason: str | None = None, **members: object) -> dict:
    return {**BASE, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **members}


BEGIN = [chunk({"role": "assistant", "content": "half"})]
THOUGHT = [chunk({"role": "assistant", "reasoning_content": text}) for text in ("hint: it", " is thin")]
STREAMS = {
    "usage with the reason": [*BEGIN, chunk({}, "length", usage=USAGE)],
    "usage alone": [*BEGIN, chunk({}, "length"), {**BASE, "choices": [], "usage": USAGE}],
    "reasoning": [*THOUGHT, *BEGIN, chunk({}, "stop"), {**BASE, "choices": [], "usage": USAGE}],
}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        events = [json.dumps(event) for event in STREAMS[request["messages"][0]["content"]]]
        self.wfile.write("".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
ABILITIES = ["vision", "function_calling", "json_output", "structured_output"]
info = {**dict.fromkeys(ABILITIES, False), "family": "unknown"}


async def results() -> dict[str, CreateResult]:
    client, found = OpenAIChatCompletionClient(model="m", base_url=url, api_key="none", model_info=info), {}
    for name in STREAMS:
        *_, found[name] = [part async for part in client.create_stream([UserMessage(content=name, source="user")])]
    await client.close()
    return found


seen = {name: (result.finish_reason, result.thought) for name, result in asyncio.run(results()).items()}
print("finish reason and thought:", seen)
assert seen == {
    "usage with the reason": ("unknown", None),
    "usage alone": ("length", None),
    "reasoning": ("stop", ": it is "),
}
PYTHON
