#!/usr/bin/env bash
# pydantic-ai 2.68.0, langchain-openai 1.7.4, smolagents 1.26.0 and agno 3.1.10: a stream that counts in each chunk costs
# the sum of all counts.
#
# Servers of Chat Completions may send the usage so far with each chunk: vLLM and SGLang for `stream_options:
# {"continuous_usage_stats": true}`, which is on without being asked for in Baseten's schema of these options ("running
# token usage statistics in each streaming chunk"). A count is cumulative, the last one is the whole.
# For a stream with 5 tokens in and 3 out, in three chunks, these libraries report 15 and 6; the longer the answer, the
# more the prompt is multiplied. Budgets end runs too early (`UsageLimits` of pydantic-ai), and costs are far too high.
# haystack-ai 3.4.1 and openai-agents 0.24.0 take the last one. Pydantic AI does if its setting
# `openai_continuous_usage_stats`, which asks the server for these counts, is on; a server that was not asked is added up.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="pydantic-ai-slim[openai]==2.68.0 langchain-openai==1.7.4 smolagents[openai]==1.26.0 agno==3.1.10"
"$folder/venv/bin/pip" install --quiet $packages haystack-ai==3.4.1 openai-agents==0.24.0 openai==3.57.0
cd "$folder"
export HAYSTACK_TELEMETRY_ENABLED=False
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agno.agent import Agent as Agno
from agno.models.openai import OpenAIChat
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from smolagents import OpenAIServerModel
from smolagents.models import ChatMessage as SmolMessage
from smolagents.models import agglomerate_stream_deltas


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for count, text in enumerate(("One", " two", " three"), 1):
            delta = {"role": "assistant", "content": text}
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if count == 3 else None}
            usage = {"prompt_tokens": 5, "completion_tokens": count, "total_tokens": 5 + count}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice], 'usage': usage})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
set_tracing_disabled(True)


def pydantic_ai() -> tuple[int, int]:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none"))
    result = PydanticAgent(model).run_stream_sync("Count.")
    list(result.stream_text())
    return result.usage.input_tokens, result.usage.output_tokens


def langchain() -> tuple[int, int]:
    answer = None
    for chunk in ChatOpenAI(model="m", base_url=url, api_key="none").stream("Count."):
        answer = chunk if answer is None else answer + chunk
    return answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"]


def smolagents() -> tuple[int, int]:
    deltas = OpenAIServerModel("m", api_base=url, api_key="none").generate_stream([SmolMessage("user", "Count.")])
    usage = agglomerate_stream_deltas(list(deltas)).token_usage
    return usage.input_tokens, usage.output_tokens


def agno() -> tuple[int, int]:
    agent = Agno(model=OpenAIChat(id="m", base_url=url, api_key="none"), telemetry=False)
    *_, last = agent.run("Count.", stream=True, stream_events=True)
    return last.metrics.input_tokens, last.metrics.output_tokens


def haystack() -> tuple[int, int]:
    model = {"api_key": Secret.from_token("none"), "model": "m", "api_base_url": url}
    generator = OpenAIChatGenerator(**model, streaming_callback=lambda _: None)
    usage = generator.run([ChatMessage.from_user("Count.")])["replies"][0].meta["usage"]
    return usage["prompt_tokens"], usage["completion_tokens"]


def openai_agents() -> tuple[int, int]:
    import asyncio

    async def run() -> tuple[int, int]:
        client = AsyncOpenAI(base_url=url, api_key="none")
        result = Runner.run_streamed(Agent(name="a", model=OpenAIChatCompletionsModel("m", client)), "Count.")
        async for _ in result.stream_events():
            pass
        await client.close()
        return result.context_wrapper.usage.input_tokens, result.context_wrapper.usage.output_tokens

    return asyncio.run(run())


seen = {each.__name__: each() for each in (pydantic_ai, langchain, smolagents, agno, haystack, openai_agents)}
print("tokens in and out:", seen)
assert seen == {
    **dict.fromkeys(["pydantic_ai", "langchain", "smolagents", "agno"], (15, 6)),
    **dict.fromkeys(["haystack", "openai_agents"], (5, 3)),
}
PYTHON
