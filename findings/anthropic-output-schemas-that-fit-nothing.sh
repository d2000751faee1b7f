#!/usr/bin/env bash
# anthropic 2.14.0 (Python) and @anthropic-ai/sdk 1.14.0 (npm): for structured outputs the SDK sends another schema than
# it was given, and of two valid ones it makes schemas that no useful value fits. It says nothing.
#
# 1. A map, `dict[str, int]` or `z.record(z.string(), z.number())`: the schema of its values is replaced by
#    `"properties": {}, "additionalProperties": false`. A model that obeys can only write `{}`, and its answer is parsed
#    without an error: the map is empty. openai-node 7.59.0 raises an error that names the place.
# 2. `allOf` of two objects with required properties (the usual form of "this and that" in OpenAPI documents): each gets
#    `additionalProperties: false` and so forbids what the other one requires. No value is left.
#
# Both schemas are JSON Schema 2020-12; jsonschema 4.26.0 judges the values.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet anthropic==2.14.0 jsonschema==4.26.0 pydantic==2.14.4
cd "$folder"
npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0 openai@7.59.0 zod@4.6.7
cat >schemas.mjs <<'JAVASCRIPT'
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
const map = z.object({ scores: z.record(z.string(), z.number()) });
let openai = "";
try { zodResponseFormat(map, "map"); } catch (error) { openai = error.message; }
const both = jsonSchemaOutputFormat(JSON.parse(process.argv[2]));
console.log(JSON.stringify([zodOutputFormat(map).schema, both.schema, openai]));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx2
from anthropic import Anthropic, transform_schema
from jsonschema import Draft202012Validator
from pydantic import BaseModel


class Exam(BaseModel):
    scores: dict[str, int]


def answer(request: httpx2.Request) -> httpx2.Response:
    sent.append(json.loads(request.content)["output_config"]["format"]["schema"])
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    usage, content = {"input_tokens": 1, "output_tokens": 1}, [{"type": "text", "text": '{"scores": {}}'}]
    return httpx2.Response(200, json={**message, "stop_sequence": None, "usage": usage, "content": content})


def fits(schema: dict, value: object) -> bool:
    return Draft202012Validator(schema).is_valid(value)


PARTS = [{"type": "object", "properties": {name: {"type": "string"}}, "required": [name]} for name in ("a", "b")]
BOTH = {"type": "object", "properties": {"pair": {"allOf": PARTS}}, "required": ["pair"]}
sent: list[dict] = []
client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
message = client.messages.parse(
    model="m", max_tokens=9, messages=[{"role": "user", "content": "Hello"}], output_format=Exam
)
command = ["node", "schemas.mjs", json.dumps(BOTH)]
node_map, node_both, openai = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
exam, pair = {"scores": {"Ada": 1}}, {"pair": {"a": "1", "b": "2"}}
print("sent for the map:", sent[0]["properties"]["scores"], "| parsed:", message.parsed_output)
print("sent for allOf:", transform_schema(BOTH)["properties"], "| openai-node:", openai)
assert fits(Exam.model_json_schema(), exam) and not fits(sent[0], exam) and not fits(node_map, exam)
assert fits(BOTH, pair) and not fits(transform_schema(BOTH), pair) and not fits(node_both, pair)
assert message.parsed_output == Exam(scores={}) and "`properties/scores`" in openai
PYTHON
