#!/usr/bin/env bash
# openai-python 3.57.0: a recursive Pydantic model, one of whose items has a description, cannot be a `response_format`:
# RecursionError before anything is sent. Without the description it can.
#
# Pydantic 2.14.4 writes the description beside the reference, `{"$ref": "#/$defs/Node", "description": "..."}`, as JSON
# Schema 2020-12 allows (Core, 8.2.3.1). The helper writes the schema behind a `$ref` with siblings in place of it, and
# then does the same inside, which never ends. `pydantic_function_tool` does the same. OpenAI's guide
# to structured outputs says that recursive schemas are supported. anthropic 2.14.0 takes the model, and leaves the
# description out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openai==3.57.0 pydantic==2.14.4 anthropic==2.14.0
"$folder/venv/bin/python" - <<'PYTHON'
from typing import Annotated

import anthropic
import httpx2
import openai
from pydantic import BaseModel, Field


class Plain(BaseModel):
    children: list["Plain"]


class Described(BaseModel):
    children: list[Annotated["Described", Field(description="One child.")]]


def outcome(model: type[BaseModel]) -> str:
    requests = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        message = {"role": "assistant", "content": '{"children": []}', "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx2.Response(200, json=completion)

    client = openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    messages = [{"role": "user", "content": "Hello"}]
    try:
        parsed = client.chat.completions.parse(model="m", messages=messages, response_format=model)
    except RecursionError as error:
        return f"RecursionError, {len(requests)} requests sent"
    return f"parsed {parsed.choices[0].message.parsed!r}"


def tool(model: type[BaseModel]) -> str:
    try:
        return openai.pydantic_function_tool(model)["type"]
    except RecursionError:
        return "RecursionError"


seen = {model.__name__: (outcome(model), tool(model)) for model in (Plain, Described)}
items = Described.model_json_schema()["$defs"]["Described"]["properties"]["children"]["items"]
others = anthropic.transform_schema(Described)["$defs"]["Described"]["properties"]["children"]["items"]
print("Pydantic:", items, "| openai-python:", seen, "| anthropic:", others)
assert items == {"$ref": "#/$defs/Described", "description": "One child."}
assert seen["Plain"] == ("parsed Plain(children=[])", "function")
assert seen["Described"] == ("RecursionError, 0 requests sent", "RecursionError")
assert others == {"$ref": "#/$defs/Described"}
PYTHON
