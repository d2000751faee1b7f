#!/usr/bin/env bash
# openapi-core 0.23.1: of four valid requests, parameters in a style of OpenAPI are refused or lost.
#
# The styles, and how a value looks in each, are those of OpenAPI 3.1.1 (4.8.12, "Style Values" and "Style Examples").
# 1. An array in the query with `style: spaceDelimited, explode: false`, sent as `n=1%202`: "Failed to cast value".
#    `pipeDelimited` is read.
# 2. An object in the query with `style: form, explode: true`, which is the default, sent as `a=1&b=x`: there is no
#    parameter and no error, whatever the values are. If it is `required`, the request is refused.
# 3. and 4. An array in the path with `style: label` or `matrix`, at `/x/{n}`: "Missing required path parameter".
#
# openapi-spec-validator, which openapi-core brings, calls all documents valid.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openapi-core==0.23.1
"$folder/venv/bin/python" - <<'PYTHON'
from urllib.parse import parse_qsl

from openapi_core import OpenAPI
from openapi_core.testing import MockRequest
from openapi_spec_validator import validate
from werkzeug.datastructures import ImmutableMultiDict

NUMBERS = {"type": "array", "items": {"type": "integer"}}
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


def outcome(parameter: dict, value: str) -> tuple[list[str], object]:
    """The errors and the value of the parameter `n`."""
    in_path = parameter["in"] == "path"
    template = "/x/{n}" if in_path else "/x"
    operation = {"parameters": [{"name": "n", **parameter}], "responses": {"200": {"description": "Done."}}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {template: {"get": operation}}}
    validate(document)
    query = ImmutableMultiDict([] if in_path else parse_qsl(value))
    path, names = (f"/x/{value}", {"n": value}) if in_path else ("/x", {})
    result = OpenAPI.from_dict(document).unmarshal_request(
        MockRequest("http://localhost", "get", path, args=query, view_args=names)
    )
    found = result.parameters.path if in_path else result.parameters.query
    return [f"{error}: {error.__cause__}" for error in result.errors], found.get("n")


def path(style: str, value: str) -> tuple[list[str], object]:
    return outcome({"in": "path", "required": True, "style": style, "schema": NUMBERS}, value)


def delimited(style: str, value: str) -> tuple[list[str], object]:
    return outcome({"in": "query", "style": style, "explode": False, "schema": NUMBERS}, value)


seen = {
    "pipeDelimited": delimited("pipeDelimited", "n=1|2"),
    "path, simple": path("simple", "1,2"),
    "spaceDelimited": delimited("spaceDelimited", "n=1%202"),
    "object, optional": outcome({"in": "query", "schema": OBJECT}, "a=1&b=x"),
    "object, optional, a no integer": outcome({"in": "query", "schema": OBJECT}, "a=no&b=x"),
    "object, required": outcome({"in": "query", "schema": OBJECT, "required": True}, "a=1&b=x"),
    "path, label": path("label", ".1,2"),
    "path, matrix": path("matrix", ";n=1,2"),
}
for name, (errors, value) in seen.items():
    print(f"{name}: value {value}, errors {errors}")
assert seen.pop("pipeDelimited") == seen.pop("path, simple") == ([], [1, 2])
assert seen.pop("object, optional") == seen.pop("object, optional, a no integer") == ([], None)
assert "Failed to cast value" in seen.pop("spaceDelimited")[0][0]
assert all(len(errors) == 1 and errors[0].startswith("Missing required") for errors, _ in seen.values())
PYTHON
