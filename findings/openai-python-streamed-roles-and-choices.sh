#!/usr/bin/env bash
# openai-python 3.57.0: `chat.completions.stream` takes two valid streams otherwise than openai-node 7.59.0.
#
# 1. `delta.role` in each chunk, as several servers send it: the final message has the role "assistantassistant", which
#    no API takes back in the history. The chunk's schema allows a role in any delta (OpenAI API reference, "chat
#    completion chunk"), and a role is no piece of a text.
# 2. With `n: 2` the second choice speaks first. Each choice has its `index`, and nothing orders them: IndexError, in
#    place of the answers. The iterator of `create(stream=True)` yields all chunks.
#
# The helper of openai-node, `stream().finalChatCompletion()`, returns what was meant in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openai==3.57.0
cd "$folder"
npm install --silent --no-audit --no-fund openai@7.59.0
cat >stream.mjs <<'JAVASCRIPT'
import OpenAI from "openai";
const fetch = async () => new Response(process.argv[2], { headers: { "Content-Type": "text/event-stream" } });
const client = new OpenAI({ apiKey: "none", fetch });
const stream = client.chat.completions.stream({ model: "m", n: 2, messages: [{ role: "user", content: "Hello" }] });
const { choices } = await stream.finalChatCompletion();
console.log(JSON.stringify(choices.map(({ message }) => [message.role, message.content])));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx2
from openai import OpenAI

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta: dict, index: int = 0, finish: str | None = None) -> dict:
    return {**HEAD, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def says(text: str) -> dict:
    return {"role": "assistant", "content": text}


def python(body: str) -> object:
    """The roles and texts of the final choices."""
    headers = {"Content-Type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, text=body))
    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=transport))
    messages = [{"role": "user", "content": "Hello"}]
    try:
        with client.chat.completions.stream(model="m", n=2, messages=messages) as stream:
            return [[each.message.role, each.message.content] for each in stream.get_final_completion().choices]
    except IndexError as error:
        return f"IndexError: {error}"


STREAMS = {
    "a role in each chunk": [chunk(says("Hello ")), chunk(says("there.")), chunk({}, 0, "stop")],
    "the second choice first": [
        *(chunk(says(text), index) for index, text in ((1, "Bye."), (0, "Hello."))),
        *(chunk({}, index, "stop") for index in (0, 1)),
    ],
}
seen = []
for name, chunks in STREAMS.items():
    body = "".join(f"data: {each}\n\n" for each in [*map(json.dumps, chunks), "[DONE]"])
    node = subprocess.run(["node", "stream.mjs", body], check=True, capture_output=True).stdout
    seen.append((python(body), json.loads(node)))
    print("{}: openai-python {}, openai-node {}".format(name, *seen[-1]))
roles, order = seen
assert roles == ([["assistantassistant", "Hello there."]], [["assistant", "Hello there."]])
assert order == ("IndexError: list assignment index out of range", [["assistant", "Hello."], ["assistant", "Bye."]])
PYTHON
