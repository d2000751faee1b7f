#!/usr/bin/env bash
# connexion 3.3.0 (Python): of valid requests, parameters of type integer in headers and cookies, arrays in headers, and
# schemas without `type` in the query are refused or answered with 500; a comma in an item makes two of it.
#
# What a parameter looks like depends on its `in` and `style` (OpenAPI 3.0.3, 4.7.12, "Style Values").
# 1. `X-Limit: 1` and `Cookie: limit=1` for an integer: 400, "'1' is not of type 'integer'". In the query and path it is read.
# 2. `X-Limits: 1,2` for an array, in `simple`, the only style of headers: 400, "'1,2' is not of type 'array'".
# 3. A schema in the query of `anyOf`, `allOf` or `enum` alone, which needs no `type`, or of `content`: 500, for a KeyError.
# 4. `names=a%2Cb&names=c`, an array of strings in `form` with `explode`: the handler gets three, not "a,b" and "c". The
#    percent-encoded comma is data (RFC 3986, 2.2), and the delimiter of this style is `&`.
# openapi-core 0.23.1 reads all of them. Nothing is said when the server starts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet connexion==3.3.0 httpx==0.28.1 openapi-core==0.23.1
cd "$folder"
venv/bin/python -W ignore - 2>log <<'PYTHON'
import json
from urllib.parse import parse_qsl

import connexion
from connexion.resolver import Resolver
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest
from werkzeug.datastructures import ImmutableMultiDict

INTEGER = {"schema": {"type": "integer"}}
INTEGERS = {"schema": {"type": "array", "items": {"type": "integer"}}}
JSON = {"content": {"application/json": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}
AUTO = {"schema": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["auto"]}]}}
STRINGS = {"schema": {"type": "array", "items": {"type": "string"}}}
CASES = [
    ("query", "limit", INTEGER, "limit=1", 1),
    ("header", "X-Limit", INTEGER, "1", 1),
    ("cookie", "limit", INTEGER, "limit=1", 1),
    ("header", "X-Limits", INTEGERS, "1,2", [1, 2]),
    ("query", "limit", AUTO, "limit=5", 5),
    ("query", "limit", {"schema": {"allOf": [{"type": "integer"}]}}, "limit=5", 5),
    ("query", "sort", {"schema": {"enum": ["up", "down"]}}, "sort=up", "up"),
    ("query", "filter", JSON, "filter=%7B%22a%22%3A1%7D", {"a": 1}),
    ("query", "names", STRINGS, "names=a%2Cb&names=c", ["a,b", "c"]),
]


def document(place: str, name: str, shape: dict) -> dict:
    parameter = {"name": name, "in": place, "required": True, **shape}
    get = {"operationId": "look", "parameters": [parameter], "responses": {"200": {"description": "OK"}}}
    return {"openapi": "3.0.3", "info": {"title": "Limits", "version": "1"}, "paths": {"/look": {"get": get}}}


def of_connexion(openapi: dict, place: str, name: str, text: str) -> object:
    app = connexion.AsyncApp("limits")
    app.add_api(openapi, resolver=Resolver(lambda _: lambda **parameters: parameters))
    url = f"/look?{text}" if place == "query" else "/look"
    headers = {"header": {name: text}, "cookie": {"Cookie": text}}.get(place)
    answer = app.test_client(raise_server_exceptions=False).get(url, headers=headers)
    return answer.status_code if answer.status_code != 200 else answer.json().get(name)


def of_openapi_core(openapi: dict, place: str, name: str, text: str) -> object:
    query = ImmutableMultiDict(parse_qsl(text)) if place == "query" else None
    headers = {name: text} if place == "header" else None
    cookies = dict([text.split("=")]) if place == "cookie" else None
    request = MockRequest("http://x", "get", "/look", args=query, headers=headers, cookies=cookies)
    result = OpenAPI.from_dict(openapi).unmarshal_request(request)
    return str(result.errors) if result.errors else getattr(result.parameters, place)[name]


seen = []
for place, name, shape, text, value in CASES:
    openapi = document(place, name, shape)
    seen.append(of_connexion(openapi, place, name, text))
    print(f"{place} {name}, {json.dumps(shape)}: {text!r}: {seen[-1]!r}")
    assert of_openapi_core(openapi, place, name, text) == value, (openapi, text)
assert seen == [1, 400, 400, 400, 500, 500, 500, 500, ["a", "b", "c"]], seen
PYTHON
grep -o "^KeyError: .*" log | sort | uniq -c
