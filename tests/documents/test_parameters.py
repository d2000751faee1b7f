"""The judge writes parameters as the standard's table of styles does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.documents.document import Document, NotJudged, Part
from tests.documents.multipart import multipart
from tests.documents.parameters import header_text, path_text, query_texts
from tests.documents.requests import INVALID, VALID, requests
from tests.support.each import each

LIST, OBJECT = ["blue", "a,b"], {"R": 100, "G": 200}


def parameter(folder: Path, **keywords: Any) -> Part:
    document = {"openapi": "3.1.0", "paths": {}, "parameter": {"name": "color", **keywords}}
    file = folder / "document.json"
    file.write_text(json.dumps(document))
    return Document(file).root.get("parameter")


@each(
    ("keywords", "value", "expected"),
    [
        ({}, LIST, "color=blue&color=a%2Cb"),
        ({"explode": False}, LIST, "color=blue,a%2Cb"),
        ({"style": "spaceDelimited", "explode": False}, LIST, "color=blue%20a%2Cb"),
        ({"style": "pipeDelimited"}, LIST, "color=blue|a%2Cb"),
        ({}, OBJECT, "R=100&G=200"),
        ({"explode": False}, OBJECT, "color=R,100,G,200"),
        ({"style": "deepObject"}, {"a": {"b": [1]}}, "color%5Ba%5D%5Bb%5D%5B%5D=1"),
        ({"content": {"application/json": {}}}, {"a": 1}, "color=%7B%22a%22%3A%201%7D"),
    ],
)
def test_parameters_of_a_query(
    tmp_path: Path, keywords: dict[str, Any], value: Any, expected: str
) -> None:
    assert "&".join(query_texts(parameter(tmp_path, **keywords), value)) == expected


@each(
    ("keywords", "value", "expected"),
    [
        ({}, LIST, "blue,a%2Cb"),
        ({"explode": True}, OBJECT, "R=100,G=200"),
        ({"style": "label", "explode": True}, LIST, ".blue.a%2Cb"),
        ({"style": "matrix"}, LIST, ";color=blue,a%2Cb"),
        ({"style": "matrix", "explode": True}, LIST, ";color=blue;color=a%2Cb"),
        ({"style": "matrix", "explode": True}, OBJECT, ";R=100;G=200"),
    ],
)
def test_parameters_of_a_path(
    tmp_path: Path, keywords: dict[str, Any], value: Any, expected: str
) -> None:
    assert path_text(parameter(tmp_path, **keywords), value) == expected


def test_what_no_style_describes_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(NotJudged):
        list(query_texts(parameter(tmp_path), [{"a": 1}]))
    with pytest.raises(NotJudged):
        header_text(parameter(tmp_path), "ä")
    assert header_text(parameter(tmp_path), ["a", "b c"]) == "a,b c"


def test_optional_parameters_are_sent_too_and_a_word_in_place_of_a_number(tmp_path: Path) -> None:
    parameters = [{"name": n, "in": "query", "schema": {"type": "integer"}} for n in ("a", "b")]
    operation = {"parameters": parameters, "responses": {}}
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": operation}}}
    file = tmp_path / "document.json"
    file.write_text(json.dumps(document))
    call = next(iter(Document(file).operations()))
    sent = requests(Document(file), *call, has_alternatives=False)
    assert [(each.verdict, each.target) for each in sent] == [
        (VALID, "/x"),
        (VALID, "/x?a=1&b=1"),
        (INVALID, "/x?a=wrong"),
        (INVALID, "/x?b=wrong"),
    ]


def test_a_multipart_body_has_files_texts_and_json(tmp_path: Path) -> None:
    properties = {"file": {"type": "string", "format": "binary"}}
    schema = parameter(tmp_path, properties=properties)
    body = multipart(schema.document, schema, {"file": "x", "n": [1, 2], "o": {"a": 1}})
    assert body.count(b"\r\n--") == 4
    assert b'name="file"; filename="file.bin"\r\nContent-Type: application/octet-stream' in body
    assert b'name="n"\r\n\r\n2\r\n' in body
    assert b'name="o"\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n' in body
