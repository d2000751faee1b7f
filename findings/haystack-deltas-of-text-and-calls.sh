#!/usr/bin/env bash
# haystack-ai 3.4.1: a Chat Completions stream with text and the piece of a tool call in one chunk raises ValueError.
#
# `content` and `tool_calls` are optional members of a delta, and may both be there (OpenAI API reference, "chat completion
# chunk"); servers that join small pieces, or send the end of the text with the whole call, write such chunks.
# `OpenAIChatGenerator` with a `streaming_callback` raises "Only one of `content`, `tool_call`, `tool_call_result` or
# `reasoning` may be set in a StreamingChunk", for an answer that it reads without streaming, and in two chunks.
# A refusal (`delta.refusal`, same page) is an empty reply with the finish reason "stop".
# langchain-openai 1.7.4 reads the text and the call, and so does openai-agents 0.24.0, which raises the refusal as an
# error with its text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet haystack-ai==3.4.1 langchain-openai==1.7.4 openai-agents==0.24.0 openai==3.3.0
cd "$folder"
export HAYSTACK_TELEMETRY_ENABLED=False
venv/bin/python -W ignore - <<'PYTHON'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agents import Agent, ModelRefusalError, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI

FUNCTION = {"name": "weather", "arguments": '{"city": "Oslo"}'}
CALLS = [{"id": "call_1", "type": "function", "function": FUNCTION}]
PIECES = [{"index": 0, **CALLS[0]}]
STREAMS = {
    "two chunks": [{"content": "Let me see."}, {"tool_calls": PIECES}],
    "one chunk": [{"content": "Let me "}, {"content": "see.", "tool_calls": PIECES}],
    "refusal": [{"refusal": "I can"}, {"refusal": "not."}],
}
WHOLE = {"role": "assistant", "content": "Let me see.", "refusal": None, "tool_calls": CALLS}


class Upstream(BaseHTTPRequestHandler):
    answer = ""
    log_message = lambda *_: None

    def do_POST(self) -> None:
        stream = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).get("stream")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.end_headers()
        common = {"id": "c", "created": 1, "model": "m"}
        reason = "stop" if self.answer == "refusal" else "tool_calls"
        if not stream:
            choice = {"index": 0, "message": WHOLE, "finish_reason": reason, "logprobs": None}
            self.wfile.write(json.dumps({**common, "object": "chat.completion", "choices": [choice]}).encode())
            return
        for delta, finish in [*((each, None) for each in STREAMS[self.answer]), ({}, reason)]:
            choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
            chunk = {**common, "object": "chat.completion.chunk", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
set_tracing_disabled(True)


def haystack(stream: bool) -> object:
    callback = (lambda _: None) if stream else None
    model = {"api_key": Secret.from_token("none"), "model": "m", "api_base_url": url, "max_retries": 0}
    try:
        reply = OpenAIChatGenerator(**model, streaming_callback=callback).run([ChatMessage.from_user("Weather?")])["replies"][0]
    except ValueError as error:
        return str(error).partition(". ")[0]
    return reply.text, [call.arguments for call in reply.tool_calls], reply.meta["finish_reason"]


def langchain() -> tuple[str, list]:
    answer = None
    for chunk in ChatOpenAI(model="m", base_url=url, api_key="none").stream("Weather?"):
        answer = chunk if answer is None else answer + chunk
    return answer.content, [call["args"] for call in answer.tool_calls]


async def openai_agents() -> tuple[str, list]:
    client = AsyncOpenAI(base_url=url, api_key="none")
    weather = function_tool(lambda city: city, name_override="weather", use_docstring_info=False)
    model = OpenAIChatCompletionsModel("m", client)
    agent = Agent(name="a", model=model, tools=[weather], tool_use_behavior="stop_on_first_tool")
    result = Runner.run_streamed(agent, "Weather?")
    try:
        async for _ in result.stream_events():
            pass
    except ModelRefusalError as error:
        return error.refusal, []
    finally:
        await client.close()
    output = [item for response in result.raw_responses for item in response.output]
    parts = [part for item in output if item.type == "message" for part in item.content]
    return "".join(part.text for part in parts), [json.loads(item.arguments) for item in output if item.type == "function_call"]


seen = {}
for name in STREAMS:
    Upstream.answer = name
    seen[name] = haystack(True)
    others = langchain(), asyncio.run(openai_agents())
    print(f"{name}: haystack {seen[name]}; langchain and openai-agents {others}")
    read = ("I cannot.", []) if name == "refusal" else ("Let me see.", [{"city": "Oslo"}])
    assert others == (("", []) if name == "refusal" else read, read)
Upstream.answer = "one chunk"
read = ("Let me see.", [{"city": "Oslo"}], "tool_calls")
assert haystack(False) == read
assert seen == {
    "two chunks": read,
    "one chunk": "Only one of `content`, `tool_call`, `tool_call_result` or `reasoning` may be set in a StreamingChunk",
    "refusal": (None, [], "stop"),
}, seen
PYTHON
