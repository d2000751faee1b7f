#!/usr/bin/env bash
# langchain-openai 1.7.4, langchain-groq 1.1.3 and langchain-deepseek 1.1.1: with `n=2`, the two streamed answers become one
# text, in which pieces of both take turns, and some are lost.
#
# `n` is the number of choices; each piece of a stream has the `index` of its choice, and a chunk may have pieces of several
# (OpenAI API reference, "Create chat completion" and "chat completion chunk"). All three models have a field `n`. With
# `generate` there are two generations. `stream` joins the first piece of each chunk, whatever its index is: of "Yes, it
# is." and "No, it never was." comes a text of both, and the finish reason "stopstop". Nothing is raised, while
# ChatOpenAI and ChatGroq refuse `n=2` with `streaming=True`: "n must be 1 when streaming".
# openai 3.3.0's `ChatCompletionStreamState` has both choices.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="langchain-openai==1.7.4 langchain-groq==1.1.3 langchain-deepseek==1.1.1 openai==3.3.0"
"$folder/venv/bin/pip" install --quiet $packages
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_deepseek import ChatDeepSeek
from langchain_groq import ChatGroq
from langchain_openai import ChatOpenAI
from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from pydantic import ValidationError

TEXTS = ["Yes, it is.", "No, it never was."]
CHUNKS = [
    [(0, "Yes, "), (1, "No, ")],
    [(1, "it never ")],
    [(0, "it is.")],
    [(1, "was.")],
]
COMMON = {"id": "c", "created": 1, "model": "m"}


class Upstream(BaseHTTPRequestHandler):
    counts: list[int] = []
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.counts.append(request.get("n"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.end_headers()
        if not request.get("stream"):
            messages = [{"role": "assistant", "content": text} for text in TEXTS]
            choices = [{"index": i, "message": each, "finish_reason": "stop"} for i, each in enumerate(messages)]
            self.wfile.write(json.dumps({**COMMON, "object": "chat.completion", "choices": choices}).encode())
            return
        pieces = [[{"index": i, "delta": {"role": "assistant", "content": text}} for i, text in each] for each in CHUNKS]
        ends = [[{"index": i, "delta": {}, "finish_reason": "stop"}] for i in (0, 1)]
        for choices in [*pieces, *ends]:
            chunk = {**COMMON, "object": "chat.completion.chunk", "choices": choices}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"


def stream(model: BaseChatModel) -> tuple[str, str]:
    answer = None
    for chunk in model.stream("Is it?"):
        answer = chunk if answer is None else answer + chunk
    return answer.content, answer.response_metadata["finish_reason"]


state = ChatCompletionStreamState()
request = {"model": "m", "n": 2, "messages": [{"role": "user", "content": "Is it?"}]}
for chunk in OpenAI(base_url=url, api_key="none").chat.completions.create(**request, stream=True):
    state.handle_chunk(chunk)
seen = [choice.message.content for choice in state.get_final_completion().choices]
print("openai:", seen)
assert seen == TEXTS
models = [
    ChatOpenAI(model="m", n=2, base_url=url, api_key="none"),
    ChatGroq(model="m", n=2, base_url=url, api_key="none"),
    ChatDeepSeek(model="m", n=2, api_base=url, api_key="none"),
]
for model in models:
    Upstream.counts.clear()
    seen = stream(model)
    print(f"{type(model).__name__}, n {Upstream.counts}:", *seen)
    assert Upstream.counts == [2]
    assert seen == ("Yes, it never it is.was.", "stopstop")
    [generations] = model.generate([[HumanMessage("Is it?")]]).generations
    assert [generation.text for generation in generations] == TEXTS
for model in (ChatOpenAI, ChatGroq):
    try:
        model(model="m", n=2, api_key="none", streaming=True)
    except ValidationError as error:
        assert "n must be 1 when streaming" in str(error)
    else:
        raise AssertionError(model)
PYTHON
