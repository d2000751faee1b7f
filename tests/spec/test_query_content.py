"""Parameters that are the query string as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.operation import Operation
from tests.support.documents import document, get, operations, warning_codes
from tests.support.each import each
from tests.support.swagger import refusal_of_parameters

FORM = "application/x-www-form-urlencoded"
SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "additionalProperties": False,
}


def item(content: Any, **more: Any) -> dict[str, Any]:
    parameter = {"name": "all", "in": "querystring", "content": content, **more}
    return {"/a": {"get": get(parameters=[parameter])}}


def operation(folder: Path, media_type: str, **more: Any) -> Operation:
    paths = item({media_type: {"schema": SCHEMA}}, **more)
    (result,) = operations(folder, document(version="3.2.0", paths=paths)).values()
    return result


@each(
    ("media_type", "query", "words"),
    [
        (FORM, "n=1&s=a+b%26", ""),
        (FORM, "n=x", "all.n"),
        (FORM, "n=1&z=1", "all.z"),
        (FORM, "s=1", "all.n"),
        (FORM, "", ""),
        ("application/json", "%7B%22n%22%3A1%7D", ""),
        ("application/json", "%7B%22n%22%3A%22x%22%7D", "all.n"),
        ("application/json", "n=1", "not valid JSON"),
        (FORM, "n=%zz", "two hex digits"),
    ],
)
def test_the_query_string_is_content(
    tmp_path: Path, media_type: str, query: str, words: str
) -> None:
    message = refusal_of_parameters(operation(tmp_path, media_type), query=query)
    assert words in message
    assert (message == "") is (words == "")


def test_it_may_be_required(tmp_path: Path) -> None:
    of = operation(tmp_path, FORM, required=True)
    assert "all" in refusal_of_parameters(of, query="")


def test_it_may_be_text(tmp_path: Path) -> None:
    content = {"text/plain": {"schema": {"type": "string", "pattern": "^a b$"}}}
    paths = item(content)
    (of,) = operations(tmp_path, document(version="3.2.0", paths=paths)).values()
    assert refusal_of_parameters(of, query="a%20b") == ""
    assert refusal_of_parameters(of, query="a") != ""


def test_it_needs_content(tmp_path: Path) -> None:
    parameter = {"name": "q", "in": "querystring", "schema": {"type": "string"}}
    paths = {"/a": {"get": get(parameters=[parameter])}}
    assert warning_codes(tmp_path, document(version="3.2.0", paths=paths)) == ["MW204"]
