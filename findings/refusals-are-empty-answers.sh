#!/usr/bin/env bash
# agno 3.1.10 and smolagents 1.26.0 (Python): a model of OpenAI that refuses is one that has nothing to say.
#
# A model that refuses says why in `message.refusal`, or in pieces in `delta.refusal`, with `content: null` and the
# `finish_reason` "stop" (OpenAI API reference, "chat completion" and "chat completion chunk"). Of such an answer, whole
# and as a stream, an agent of agno completes its run with the content None, and smolagents' model has an empty text or
# None. A program that asks again when it gets nothing pays for each refusal. mirascope 2.8.2 has the text, and the
# finish reason "refusal"; pydantic-ai 2.31.1 raises ContentFilterError with the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="agno==3.1.10 smolagents[openai]==1.26.0 mirascope[openai]==2.8.2 pydantic-ai-slim[openai]==2.31.1"
"$folder/venv/bin/pip" install --quiet $packages openai==2.54.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agno.agent import Agent as Agno
from agno.models.openai import OpenAIChat
from mirascope import llm
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from smolagents import OpenAIServerModel
from smolagents.models import ChatMessage, agglomerate_stream_deltas

HEAD = {"id": "c", "created": 1, "model": "m"}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        streams = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).get("stream")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        if not streams:
            message = {"role": "assistant", "content": None, "refusal": "I cannot."}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
            answer = {**HEAD, "object": "chat.completion", "choices": [choice], "usage": usage}
            self.wfile.write(json.dumps(answer).encode())
            return
        for delta in ({"role": "assistant", "refusal": "I "}, {"refusal": "cannot."}, {}):
            choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
            chunk = {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"


def agno(streams: bool) -> str:
    agent = Agno(model=OpenAIChat(id="m", base_url=url, api_key="none"), telemetry=False)
    if not streams:
        result = agent.run("Help.")
        return f"{result.content!r}, {result.status.value}"
    *_, last = agent.run("Help.", stream=True, stream_events=True)
    return f"{last.content!r}, {last.event}"


def smolagents(streams: bool) -> str:
    model, question = OpenAIServerModel("m", api_base=url, api_key="none"), [ChatMessage("user", "Help.")]
    if not streams:
        return repr(model.generate(question).content)
    return repr(agglomerate_stream_deltas(list(model.generate_stream(question))).content)


def mirascope(streams: bool) -> str:
    model = llm.Model("openai/m:completions")
    answer = model.stream("Help.") if streams else model.call("Help.")
    if streams:
        list(answer.chunk_stream())
    return f"{answer.content[0].text!r}, {answer.finish_reason.value}"


def pydantic_ai(streams: bool) -> str:
    agent = Agent(OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none")))
    try:
        return str(list(agent.run_stream_sync("Help.").stream_text()) if streams else agent.run_sync("Help.").output)
    except Exception as error:
        return f"{type(error).__name__}: {'I cannot.' in str(error)}"


llm.register_provider("openai:completions", scope="openai/", base_url=url, api_key="none")
seen = {each.__name__: (each(False), each(True)) for each in (agno, smolagents, mirascope, pydantic_ai)}
for name, (whole, stream) in seen.items():
    print(f"{name}: whole {whole}; stream {stream}")
assert seen == {
    "agno": ("None, COMPLETED", "None, RunCompleted"),
    "smolagents": ("None", "''"),
    "mirascope": ("'I cannot.', refusal",) * 2,
    "pydantic_ai": ("ContentFilterError: True",) * 2,
}
PYTHON
