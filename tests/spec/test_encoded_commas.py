"""Encoded commas: data where the strict reading is valid, delimiters where only they make it so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError
from tests.support.documents import ask, document, operations
from tests.support.each import each

INTEGERS = {"type": "array", "items": {"type": "integer"}}
STRINGS = {"type": "array", "items": {"type": "string"}}
CHOICES = {"type": "array", "items": {"enum": ["a", "b"]}}
PAIR = {"type": "array", "items": {"type": "string"}, "minItems": 2}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}
EITHER = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"pattern": "^[0-9]+$"}}]}
ONE_OR_PAIR = {"anyOf": [{"type": "integer"}, {**PAIR, "items": {"type": "integer"}}]}
REFUSAL = "refused"
FORM = "application/x-www-form-urlencoded"

# Place, style, explode, schema, what is sent, the value or REFUSED.
TABLE: list[tuple[str, str | None, bool | None, Any, str, Any]] = [
    ("query", "form", False, INTEGERS, "p=1,2", [1, 2]),
    ("query", "form", False, INTEGERS, "p=1%2C2", [1, 2]),
    ("query", "form", False, INTEGERS, "p=1%2c2,3", [1, 2, 3]),
    ("query", "form", False, INTEGERS, "p=1%2Cx", REFUSAL),
    ("query", "form", False, INTEGERS, "p=1%252C2", REFUSAL),
    ("query", "form", False, STRINGS, "p=a%2Cb", ["a,b"]),
    ("query", "form", False, STRINGS, "p=a%2Cb,c", ["a,b", "c"]),
    ("query", "form", False, CHOICES, "p=a%2Cb", ["a", "b"]),
    ("query", "form", False, PAIR, "p=a%2Cb", ["a", "b"]),
    ("query", "form", False, PAIR, "p=a%2Cb,c", ["a,b", "c"]),
    ("query", "form", False, POINT, "p=x,1,y,2", {"x": 1, "y": 2}),
    ("query", "form", False, POINT, "p=x%2C1%2Cy%2C2", {"x": 1, "y": 2}),
    ("query", "form", False, POINT, "p=x%2C1%2Cy", REFUSAL),
    ("query", "form", True, INTEGERS, "p=1&p=2", [1, 2]),
    ("query", "form", True, INTEGERS, "p=1%2C2", REFUSAL),
    ("query", "form", True, POINT, "x=1&y=2", {"x": 1, "y": 2}),
    ("query", "form", True, POINT, "x=1%2C2", REFUSAL),
    ("query", "spaceDelimited", False, INTEGERS, "p=1%202", [1, 2]),
    ("query", "spaceDelimited", False, INTEGERS, "p=1+2", [1, 2]),
    ("query", "spaceDelimited", False, INTEGERS, "p=1%2C2", REFUSAL),
    ("query", "spaceDelimited", False, STRINGS, "p=a%2Cb%20c", ["a,b", "c"]),
    ("query", "spaceDelimited", False, POINT, "p=x%201%20y%202", {"x": 1, "y": 2}),
    ("query", "pipeDelimited", False, INTEGERS, "p=1|2", [1, 2]),
    ("query", "pipeDelimited", False, INTEGERS, "p=1%7C2", [1, 2]),
    ("query", "pipeDelimited", False, INTEGERS, "p=1%2C2", REFUSAL),
    ("query", "pipeDelimited", False, POINT, "p=x%7C1%7Cy%7C2", {"x": 1, "y": 2}),
    ("path", "simple", False, INTEGERS, "1,2", [1, 2]),
    ("path", "simple", False, INTEGERS, "1%2C2", [1, 2]),
    ("path", "simple", True, INTEGERS, "1%2C2", [1, 2]),
    ("path", "simple", False, STRINGS, "a%2Cb", ["a,b"]),
    ("path", "simple", False, CHOICES, "a%2Cb", ["a", "b"]),
    ("path", "simple", False, POINT, "x%2C1%2Cy%2C2", {"x": 1, "y": 2}),
    ("path", "simple", True, POINT, "x=1,y=2", {"x": 1, "y": 2}),
    ("path", "simple", True, POINT, "x=1%2Cy=2", {"x": 1, "y": 2}),
    ("path", "simple", True, POINT, "x%3D1%2Cy%3D2", {"x": 1, "y": 2}),
    ("path", "label", False, INTEGERS, ".1%2C2", [1, 2]),
    ("path", "label", False, INTEGERS, ".1.2", [1, 2]),
    ("path", "matrix", False, INTEGERS, ";p=1%2C2", [1, 2]),
    ("path", "matrix", False, POINT, ";p=x%2C1%2Cy%2C2", {"x": 1, "y": 2}),
    ("path", "matrix", True, INTEGERS, ";p=1%2C2", REFUSAL),
    ("header", "simple", False, INTEGERS, "1,2", [1, 2]),
    ("header", "simple", False, INTEGERS, "1%2C2", REFUSAL),
    ("header", "simple", False, STRINGS, "a%2Cb", ["a%2Cb"]),
    ("header", "simple", True, POINT, "x=1%2Cy=2", REFUSAL),
    ("cookie", "form", False, INTEGERS, "p=1,2", [1, 2]),
    ("cookie", "form", False, INTEGERS, "p=1%2C2", [1, 2]),
    ("cookie", "form", False, STRINGS, "p=a%2Cb", ["a,b"]),
    ("cookie", "form", False, POINT, "p=x%2C1%2Cy%2C2", {"x": 1, "y": 2}),
    ("cookie", "form", True, INTEGERS, "p=1%2C2", REFUSAL),
    ("query", None, None, {"type": "integer"}, "p=1%2C2", REFUSAL),
    ("query", None, None, {"type": "string"}, "p=1%2C2", "1,2"),
    # A list or a single value.
    ("query", None, None, EITHER, "p=1", ["1"]),
    ("query", None, None, EITHER, "p=text", "text"),
    ("query", None, None, EITHER, "p=1&p=2", ["1", "2"]),
    ("query", None, None, EITHER, "p=text&p=2", REFUSAL),
    ("query", "form", False, EITHER, "p=a,b", "a,b"),
    ("query", None, None, ONE_OR_PAIR, "p=7", 7),
    ("query", None, None, ONE_OR_PAIR, "p=x", REFUSAL),
    ("header", None, None, ONE_OR_PAIR, "7", 7),
    ("path", None, None, ONE_OR_PAIR, "7", 7),
    ("query", None, None, {"anyOf": [POINT, {"type": "integer"}]}, "x=1&y=2", {"x": 1, "y": 2}),
    ("query", None, None, {"anyOf": [POINT, {"type": "integer"}]}, "p=3", 3),
    ("query", None, None, {"anyOf": [POINT, {"type": "integer"}]}, "q=3", REFUSAL),
]


@each(("place", "style", "explode", "schema", "source", "value"), TABLE)
def test_parameters(
    tmp_path: Path,
    place: str,
    style: str | None,
    explode: bool | None,
    schema: Any,
    source: str,
    value: Any,
) -> None:
    how = {"name": "p", "in": place, "schema": schema, "style": style, "explode": explode}
    how = {key: message for key, message in how.items() if message is not None}
    get: Any = {"operationId": "x", "responses": {}, "parameters": [how | {"required": True}]}
    path = "/x/{p}" if place == "path" else "/x"
    operation = operations(tmp_path, document(paths={path: {"get": get}}))["x"]
    (parameter,) = operation.parameters
    text = Query.parse(source) if place == "query" else source
    if value is REFUSAL:
        with pytest.raises(GatewayError) as excinfo:
            parameter.check(text)
        assert (excinfo.value.status, (excinfo.value.param or "")[:1]) == (400, "p")
    else:
        assert parameter.check(text) == value


@each(
    ("how", "body", "value"),
    [
        ({"explode": False}, b"p=1,2", [1, 2]),
        ({"explode": False}, b"p=1%2C2", [1, 2]),
        ({"style": "form", "explode": False}, b"p=1%2c2", [1, 2]),
        ({"explode": False}, b"p=1%2Cx", REFUSAL),
        ({"explode": True}, b"p=1%2C2", REFUSAL),
        ({"style": "pipeDelimited"}, b"p=1%2C2", REFUSAL),
        ({"style": "pipeDelimited"}, b"p=1%7C2", [1, 2]),
        ({"explode": False}, b"p=1%2C2&note=a%2Cb", [1, 2]),
    ],
)
def test_fields_of_a_form(tmp_path: Path, how: Any, body: bytes, value: Any) -> None:
    schema = {"type": "object", "properties": {"p": INTEGERS, "note": {"type": "string"}}}
    content = {FORM: {"schema": schema, "encoding": {"p": how}}}
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    operation = operations(tmp_path, document(paths={"/x": {"post": post}}))["x"]
    if value is REFUSAL:
        with pytest.raises(GatewayError) as excinfo:
            ask(operation, body, FORM)
        assert (excinfo.value.param or "").startswith("p")
    else:
        compiled = ask(operation, body, FORM)
        assert compiled["p"] == value
        assert compiled.get("note", "a,b") == "a,b"
