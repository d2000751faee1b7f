#!/usr/bin/env bash
# openai-python 3.57.0 and openai-node 7.59.0: `chat.completions.stream` says that a tool call is done as soon as
# another one goes on, with the part of its arguments that has come by then.
#
# Each fragment has the `index` of its call (OpenAI API reference, "chat completion chunk"), so that calls made in
# parallel may take turns. Of two that do, the event `tool_calls.function.arguments.done` comes with half of the
# arguments: in Python that is all, in JavaScript it comes again with the whole. If the tool is `strict`, both helpers
# parse the half, and the stream ends with an error. The final completion, where there is one, has all arguments.
#
# So a program that runs a tool at this event calls it with broken arguments, though nothing was broken.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openai==3.57.0
cd "$folder"
npm install --silent --no-audit --no-fund openai@7.59.0
cat >stream.mjs <<'JAVASCRIPT'
import OpenAI from "openai";
const [body, request] = process.argv.slice(2);
const fetch = async () => new Response(body, { headers: { "Content-Type": "text/event-stream" } });
const stream = new OpenAI({ apiKey: "none", fetch }).chat.completions.stream(JSON.parse(request));
const done = [];
stream.on("tool_calls.function.arguments.done", (event) => done.push([event.index, event.arguments]));
const error = await stream.finalChatCompletion().then(() => null, (each) => each.message);
console.log(JSON.stringify([done, error]));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx2
from openai import OpenAI

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def chunk(delta: dict, finish: str | None = None) -> dict:
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, arguments: str, **head: str) -> dict:
    name, role = ({"name": "look"}, {"role": "assistant"}) if head else ({}, {})
    return chunk({**role, "tool_calls": [{"index": index, **head, "function": {**name, "arguments": arguments}}]})


def python(body: str, request: dict) -> list:
    headers = {"Content-Type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, text=body))
    client, done = OpenAI(api_key="none", http_client=httpx2.Client(transport=transport)), []
    try:
        with client.chat.completions.stream(**request) as stream:
            for event in stream:
                if event.type == "tool_calls.function.arguments.done":
                    done.append([event.index, event.arguments])
    except ValueError as error:
        return [done, str(error)]
    return [done, None]


calls = [call(n, '{"n":', id=f"call_{n}", type="function") for n in (0, 1)]
chunks = [*calls, call(0, " 1}"), call(1, " 2}"), chunk({}, "tool_calls")]
body = "".join(f"data: {each}\n\n" for each in [*map(json.dumps, chunks), "[DONE]"])
HALVES, WHOLE = [[0, '{"n":'], [1, '{"n":']], [[0, '{"n": 1}'], [1, '{"n": 2}']]
for strict in (False, True):
    tool = {"type": "function", "function": {"name": "look", "strict": strict, "parameters": SCHEMA}}
    request = {"model": "m", "messages": [{"role": "user", "content": "Look."}], "tools": [tool]}
    node = subprocess.run(["node", "stream.mjs", body, json.dumps(request)], check=True, capture_output=True).stdout
    results = {"Python": python(body, request), "JavaScript": json.loads(node)}
    for language, (done, error) in results.items():
        print(f"strict {strict}, {language}: done {done}, error {error}")
        assert bool(error) == strict
    assert [done for done, _ in results.values()] == ([[], []] if strict else [HALVES, HALVES + WHOLE])
PYTHON
