#!/usr/bin/env bash
# openapi-core 0.23.1: two valid documents of OpenAPI 3.1 raise TypeError when a valid request comes, in place of a
# result or one of its own errors.
#
# 1. `type: [integer, 'null']` of a parameter in the query, or of a field of a form. In a JSON body the same schema is
#    read. OpenAPI 3.1 takes the `type` of JSON Schema 2020-12, which may be an array (Validation, 6.1.1).
# 2. `schema: true` of a body. A schema is an object or a boolean (JSON Schema 2020-12, Core, 4.3; OpenAPI 3.1.1, 4.8.24).
#    As the schema of a property it is read.
#
# openapi-spec-validator 0.8, which openapi-core brings, calls both documents valid. So a middleware that catches the
# errors of openapi-core answers these requests with a 500.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openapi-core==0.23.1
"$folder/venv/bin/python" - <<'PYTHON'
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest
from openapi_spec_validator import validate

NULLABLE = {"type": ["integer", "null"]}
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
OBJECT = {"type": "object", "properties": {"n": NULLABLE}}


def outcome(operation: dict, **request: object) -> str:
    post = {**operation, "responses": {"200": {"description": "Done."}}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/x": {"post": post}}}
    validate(document)
    sent = MockRequest("http://localhost", "post", "/x", **request)
    try:
        result = OpenAPI.from_dict(document).unmarshal_request(sent)
    except TypeError as error:
        return f"TypeError: {error}"
    return f"errors: {result.errors}"


def body(media_type: str, schema: object) -> dict:
    return {"requestBody": {"content": {media_type: {"schema": schema}}}}


query = {"parameters": [{"name": "n", "in": "query", "schema": NULLABLE}]}
seen = {
    "n=5 in the query": outcome(query, args={"n": "5"}),
    "n=5 in a form": outcome(body(FORM, OBJECT), content_type=FORM, data=b"n=5"),
    "5 in JSON": outcome(body(JSON, OBJECT), content_type=JSON, data=b'{"n": 5}'),
    "schema: true": outcome(body(JSON, True), content_type=JSON, data=b"5"),
    "a property true": outcome(body(JSON, {"properties": {"n": True}}), content_type=JSON, data=b'{"n": 5}'),
}
for name, text in seen.items():
    print(f"{name}: {text}")
assert seen["5 in JSON"] == seen["a property true"] == "errors: []"
assert "Expected a string value" in seen["n=5 in the query"] and "Expected a string value" in seen["n=5 in a form"]
assert "unsupported operand" in seen["schema: true"]
PYTHON
