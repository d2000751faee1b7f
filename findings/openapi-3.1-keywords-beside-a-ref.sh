#!/usr/bin/env bash
# Keywords beside a `$ref` in a schema of OpenAPI 3.1: six tools lose a part of one side or the other, without a word,
# and accept or describe values that the document forbids.
#
# A Schema Object of 3.1 is JSON Schema 2020-12 (OpenAPI 3.1.1, 4.8.24), in which `$ref` is a keyword like the others:
# a value has to fit the schema behind it and the siblings (Core, 7 and 8.2.3.1). Here `Base` requires an integer
# `a`; beside the reference stand `required: [b]` and a string `b`. Only the first of the four values below is valid.
# - openapi-core 0.23.1, prance 26.7.19.0 and openapi-typescript 7.13.0 ignore the siblings: `b` is not required.
# - @redocly/cli 2.77.0 (`bundle --dereferenced`) and @scalar/openapi-parser 0.29.22 write them over the members of
#   `Base`: `a` is neither required nor an integer. @apidevtools/swagger-parser 13.1.0 joins `properties`, but takes
#   `required` from the siblings: `a` is not required.
# `allOf: [{$ref: ...}, ...]` is read alike by all. jsonschema 4.26.0 judges the values by what the tools made of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openapi-core==0.23.1 prance==26.7.19.0 openapi-spec-validator jsonschema==4.26.0
cd "$folder"
packages="@redocly/cli@2.77.0 @apidevtools/swagger-parser@13.1.0 @scalar/openapi-parser@0.29.22"
npm install --silent --no-audit --no-fund $packages openapi-typescript@7.13.0
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
cat >dereference.mjs <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import SwaggerParser from "@apidevtools/swagger-parser";
import { dereference } from "@scalar/openapi-parser";
const [, , path] = process.argv;
const { schema } = await dereference(JSON.parse(readFileSync(path, "utf8")));
console.log(JSON.stringify({ "swagger-parser": await SwaggerParser.dereference(path), scalar: schema }));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import prance
from jsonschema import Draft202012Validator
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest

BASE = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
BESIDE = {"required": ["b"], "properties": {"b": {"type": "string"}}}
REFERENCE = {"$ref": "#/components/schemas/Base"}
VALUES = [{"a": 1, "b": "x"}, {"a": 1}, {"b": "x"}, {"a": "no", "b": "x"}]


def verdicts(schema: dict) -> list[bool]:
    validator = Draft202012Validator({**schema, "components": {"schemas": {"Base": BASE}}})
    return [validator.is_valid(value) for value in VALUES]


def read(path: str, schema: dict) -> dict[str, list[bool]]:
    content = {"application/json": {"schema": schema}}
    operation = {"requestBody": {"content": content}, "responses": {"200": {"description": "Done."}}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/x": {"post": operation}}}
    document["components"] = {"schemas": {"Base": BASE}}
    with open(path, "w") as file:
        json.dump(document, file)
    made = json.loads(subprocess.run(["node", "dereference.mjs", path], check=True, capture_output=True).stdout)
    bin, quiet = "node_modules/.bin", {"check": True, "capture_output": True, "text": True}
    subprocess.run([f"{bin}/redocly", "bundle", path, "--dereferenced", "-o", "whole.json"], **quiet)
    with open("whole.json") as file:
        made["redocly"] = json.load(file)
    made["prance"] = prance.ResolvingParser(path, backend="openapi-spec-validator").specification
    found = {"jsonschema": verdicts(schema)}
    for name, each in made.items():
        found[name] = verdicts(each["paths"]["/x"]["post"]["requestBody"]["content"]["application/json"]["schema"])
    api, sent = OpenAPI.from_dict(document), {"content_type": "application/json"}
    bodies = [json.dumps(value).encode() for value in VALUES]
    requests = [MockRequest("http://localhost", "post", "/x", data=body, **sent) for body in bodies]
    found["openapi-core"] = [not api.unmarshal_request(request).errors for request in requests]
    types = subprocess.run([f"{bin}/openapi-typescript", path], **quiet).stdout
    print(found, "| `b` in openapi-typescript's types:", "b: string" in types)
    return {**found, "types": ["b: string" in types]}


both = read("both.json", {"allOf": [REFERENCE, BESIDE]})
beside = read("beside.json", {**REFERENCE, **BESIDE})
assert both.pop("types") == [True] and set(map(tuple, both.values())) == {(True, False, False, False)}
assert beside.pop("types") == [False] and beside.pop("jsonschema") == [True, False, False, False]
assert beside.pop("openapi-core") == beside.pop("prance") == [True, True, False, False]
assert beside.pop("redocly") == beside.pop("scalar") == [True, False, True, True]
assert beside == {"swagger-parser": [True, False, True, False]}
PYTHON
