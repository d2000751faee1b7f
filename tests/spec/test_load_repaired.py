"""A document is read from its files, converted and repaired."""

from pathlib import Path

from engine.source.problem import Findings
from engine.spec.load_repaired import load_and_repair

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
