"""Reading a document and the files it refers to."""

from __future__ import annotations

from pathlib import Path

from engine.source.problem import Findings
from engine.spec.load import load_and_repair
from tests.support.each import each
from tests.support.libraries import read


@each(
    ("text", "words"),
    [
        ("", "not an OpenAPI document"),
        ("[]\n", "not an OpenAPI document"),
        ("just text\n", "not an OpenAPI document"),
        ("a: 1\n", "no 'openapi' key"),
        ("swagger: '1.2'\n", "'swagger' is '1.2'"),
        ("swagger: [2.0]\n", "'swagger' is [2.0]"),
        ("openapi: 3.10.0\n", "'3.10.0'"),
        ("openapi: 2.0.0\n", "'2.0.0'"),
        ("openapi: 4.0.0\n", "'4.0.0'"),
        ("openapi: null\n", "None"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    library, problems = read(tmp_path, api=text)
    assert library is None
    assert [p.code for p in problems] == ["MW201"]
    assert words in problems[0].message


@each("version", ["3.0", "'3.1'", "3.0.0", "3.0.3", "3.0.4", "3.1.0", "3.1.1", "3.2.0"])
def test_each_version_of_the_standard_is_read(tmp_path: Path, version: str) -> None:
    library, problems = read(tmp_path, api=f"openapi: {version}\n")
    assert library is not None
    assert problems == []


@each(("text", "code"), [("a: [\n", "MW001"), ("a: 1\na: 2\n", "MW003"), ("a: !x 1\n", "MW004")])
def test_text_that_is_not_yaml_is_refused(tmp_path: Path, text: str, code: str) -> None:
    library, problems = read(tmp_path, api=text)
    assert library is None
    assert code in [p.code for p in problems]


SWAGGER = """swagger: '2.0'
info: {title: Shop, version: '1'}
host: shop.example
paths:
  /a:
    get:
      parameters: [{name: kind, in: query, type: string}]
      responses: {'200': {description: Done}}
"""


def loaded(folder: Path, text: str):
    """What is read of a document, and the codes of its problems."""
    file, findings = folder / "api.yaml", Findings()
    file.write_text(text)
    library = load_and_repair(file, file.name, findings, ())
    return library, {problem.code for problem in findings.unsorted}


def test_an_older_document_is_read_as_openapi_3(tmp_path):
    library, _ = loaded(tmp_path, SWAGGER)
    (parameter,) = library.document.value["paths"]["/a"]["get"]["parameters"]
    assert parameter == {"name": "kind", "in": "query", "schema": {"type": "string"}}


def test_what_is_no_document_has_errors_and_no_library(tmp_path):
    assert loaded(tmp_path, "just: a mapping\n") == (None, {"MW201"})
