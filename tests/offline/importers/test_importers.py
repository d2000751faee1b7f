"""Importers: cases/imports/SOURCE holds configs of other gateways, and beside each the result."""

import re
from pathlib import Path

import pytest
import yaml

from engine.offline import importers
from engine.plan.make import make_plan
from engine.source.reader import read_file
from tests.support import paths
from tests.support.each import each

FOLDER = paths.CASES / "imports"
CASES = [
    (source, file)
    for source in importers.names()
    for file in sorted((FOLDER / source).glob("*.yaml"))
    if not file.name.endswith(".gateway.yaml")
]


def test_every_source_has_cases():
    assert {source for source, _ in CASES} == set(importers.names())


def drafted(source, file):
    return importers.read(source, read_file(file, file.name))


def environ(names):
    """A value for each variable."""
    is_url = re.compile("BASE|URL")
    return {name: "https://set.example.com" if is_url.search(name) else "set" for name in names}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "openapi").mkdir()
    for document in (paths.ROOT / "openapi").glob("*.yaml"):
        (tmp_path / "openapi" / document.name).symlink_to(document)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_result_is_the_one_beside_the_case(source, file):
    text = drafted(source, file).text(importers.title(source))
    assert text == file.with_suffix(".gateway.yaml").read_text("utf-8")


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_result_passes_check(folder, source, file):
    draft = drafted(source, file)
    for name, document in draft.documents.items():
        (folder / "openapi" / name).write_text(yaml.safe_dump(document), "utf-8")
    planned = make_plan(Path("gateway.yaml"), environ(draft.variables()), draft.text("x"))
    assert [str(error) for error in planned.findings.errors] == []


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_no_secret_of_the_source_is_in_the_result(source, file):
    text = drafted(source, file).text(importers.title(source))
    assert not re.search("written-out|sk-1234", text)
