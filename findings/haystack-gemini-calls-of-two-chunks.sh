#!/usr/bin/env bash
# google-genai-haystack 7.0.0 with haystack-ai 3.4.1: of Gemini's streamed answer, two tool calls in two chunks are no call.
#
# Each chunk of `streamGenerateContent` is a GenerateContentResponse whose parts add to the answer, and a part with a
# `functionCall` is a whole call (Gemini API reference, "Generating content", and the guide to function calling, "Parallel
# function calling"). The generator numbers the calls of each chunk from 0, so that the arguments of both are joined:
# `{"city": "Oslo"}{"city": "Rome"}` is no JSON, and the message has neither of them. Its finish reason is
# "tool_calls", so an agent waits for tools that nobody can run; all that says so is a warning in the log.
# Two calls in one chunk, and the whole answer, are read. langchain-google-genai 4.4.3 reads all three.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet google-genai-haystack==7.0.0 haystack-ai==3.4.1 google-genai==3.6.1 \
  langchain-google-genai==4.4.3
cd "$folder"
export HAYSTACK_TELEMETRY_ENABLED=False
venv/bin/python -W ignore - <<'PYTHON'
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALLS = [{"functionCall": {"name": "weather", "args": {"city": city}}} for city in ("Oslo", "Rome")]
USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}
BOTH = [("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})]


def chunk(parts: list[dict], **end: str) -> dict:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **end}], "usageMetadata": USAGE}


ANSWERS = {
    "two chunks": [chunk(CALLS[:1]), chunk(CALLS[1:], finishReason="STOP")],
    "one chunk": [chunk(CALLS, finishReason="STOP")],
}


class Upstream(BaseHTTPRequestHandler):
    answer = ""
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        stream = "streamGenerateContent" in self.path
        chunks = ANSWERS[self.answer]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.end_headers()
        text = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) if stream else json.dumps(chunks[0])
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
os.environ["GOOGLE_GEMINI_BASE_URL"] = url

from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator
from langchain_google_genai import ChatGoogleGenerativeAI


def haystack(stream: bool) -> tuple[str, list]:
    callback = (lambda _: None) if stream else None
    generator = GoogleGenAIChatGenerator(api_key=Secret.from_token("none"), model="m", streaming_callback=callback)
    reply = generator.run([ChatMessage.from_user("Weather?")])["replies"][0]
    return reply.meta["finish_reason"], [(call.tool_name, call.arguments) for call in reply.tool_calls]


def langchain(stream: bool) -> tuple[str, list]:
    model = ChatGoogleGenerativeAI(model="m", google_api_key="none", base_url=url)
    answer = None
    for each in model.stream("Weather?") if stream else [model.invoke("Weather?")]:
        answer = each if answer is None else answer + each
    calls = [(call["name"], call["args"]) for call in answer.tool_calls]
    return answer.response_metadata["finish_reason"], calls


seen = {}
for name, stream in (("two chunks", True), ("one chunk", True), ("one chunk", False)):
    Upstream.answer = name
    seen[name, stream] = haystack(stream)
    print(f"{name}, stream {stream}:", seen[name, stream], langchain(stream))
    assert langchain(stream)[1] == BOTH
assert seen == {
    ("two chunks", True): ("tool_calls", []),
    ("one chunk", True): ("tool_calls", BOTH),
    ("one chunk", False): ("tool_calls", BOTH),
}, seen
PYTHON
