"""Breaches of the standard are warnings with a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.source.problem import Findings, Level, Problem
from engine.spec.document.checks.standard_breaches import breaches
from engine.spec.load import load, repair
from engine.spec.spec import read
from tests.support.documents import document
from tests.support.each import each
from tests.support.swagger import read_swagger, swagger

RIGHT = {"/x": {"get": {"responses": {"200": {"description": "d"}}}}}


def breach_findings(folder: Path, text: str) -> list[Problem]:
    (folder / "api.yaml").write_text(text)
    findings = Findings()
    library = load(folder / "api.yaml", "api.yaml", findings)
    assert library is not None
    assert findings.problems == []
    breaches(library, findings)
    return findings.problems


@each("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_a_document_that_keeps_the_standard_has_none(tmp_path: Path, version: str) -> None:
    assert breach_findings(tmp_path, json.dumps(document(version=version, paths=RIGHT))) == []


@each("version", ["3.0.3", "3.1.0", "3.2.0"])
@each(
    "change",
    [
        {"info": {"title": "T"}},
        {"info": None},
        {"paths": []},
        {"paths": {"x": {}}},
        {"unknown": 1},
        {"servers": "x"},
        {"\ud800": 1},
    ],
)
def test_a_breach_is_a_warning(tmp_path: Path, version: str, change: dict[str, Any]) -> None:
    problems = breach_findings(
        tmp_path, json.dumps({**document(version=version, paths=RIGHT), **change})
    )
    assert problems
    assert {(p.level, p.code) for p in problems} == {(Level.WARNING, "MW220")}
    assert all(len(p.message) < 300 and "\n" not in p.message for p in problems)


def test_a_breach_has_its_place(tmp_path: Path) -> None:
    text = (
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n  /x:\n    get:\n"
        "      summary: 5\n      responses: {'200': {description: d}}\n"
    )
    (problem,) = breach_findings(tmp_path, text)
    assert (problem.file, problem.line) == ("api.yaml", 6)


def test_a_pattern_that_is_warned_of_at_its_key_is_no_second_finding(tmp_path: Path) -> None:
    schema = {"type": "string", "pattern": "(?i)^a$"}
    components = {"schemas": {"A": schema}}
    text = json.dumps(document(version="3.0.3", paths=RIGHT, components=components))
    (tmp_path / "api.yaml").write_text(text)
    findings = Findings()
    library = load(tmp_path / "api.yaml", "api.yaml", findings)
    assert library is not None
    repair(library, findings)
    breaches(library, findings)
    assert [problem.code for problem in findings.problems] == ["MW252"]


def test_no_more_than_fifty_are_shown(tmp_path: Path) -> None:
    paths = {f"x{number}": {} for number in range(200)}
    assert 0 < len(breach_findings(tmp_path, json.dumps(document(paths=paths)))) <= 50


def test_a_sibling_file_is_read_for_it(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("R: {description: d}\n")
    responses = {"200": {"$ref": "two.yaml#/R"}}
    value = document(paths={"/x": {"get": {"responses": responses}}})
    assert breach_findings(tmp_path, json.dumps(value)) == []


def test_a_packed_document_is_read_as_a_plain_one(tmp_path: Path) -> None:
    for paths in (RIGHT, {"/x": {"get": {"responses": 5}}}):
        (tmp_path / "api.yaml").write_text(json.dumps(document(paths=paths)))
        library = load(tmp_path / "api.yaml", "api.yaml", Findings())
        assert library is not None
        findings, of_packed = Findings(), Findings()
        breaches(library, findings)
        library.pack()
        breaches(library, of_packed)
        assert of_packed.problems == findings.problems
        assert bool(findings.problems) == (paths is not RIGHT)


def test_an_unknown_path_parameter_is_a_breach(tmp_path: Path) -> None:
    value = document(paths={"/x/{id}": RIGHT["/x"]})
    problems = breach_findings(tmp_path, json.dumps(value))
    assert [p.code for p in problems] == ["MW220"]


def breaches_of_swagger(folder: Path, value: Any, *overlays: str, **files: str) -> list[Problem]:
    specification, problems = read_swagger(folder, value, *overlays, **files)
    assert specification is not None
    assert problems == []
    findings = Findings()
    breaches(specification.library, findings)
    return findings.problems


def test_a_document_of_swagger_2_is_held_to_its_own_standard(tmp_path: Path) -> None:
    parameter = {"name": "q", "in": "query", "type": "string"}
    assert breaches_of_swagger(tmp_path, swagger(parameter)) == []
    text = """swagger: "2.0"
info: {title: T, version: "1"}
paths:
  /a:
    get:
      parameters:
        - {name: b, in: body, schema: {}}
        - {name: q, in: query, type: string}
      responses: {"200": {}}
"""
    found = breaches_of_swagger(tmp_path, text)
    assert [(p.line, p.column, p.code) for p in found] == [(9, 26, "MW220")]


def test_an_overlay_of_a_document_of_swagger_2_is_held_to_it_too(tmp_path: Path) -> None:
    fix = """overlay: 1.0.0
info: {title: F, version: "1"}
actions:
  - target: $.paths['/a'].post
    update: {deprecated: maybe}
"""
    found = breaches_of_swagger(tmp_path, swagger(), "fix", fix=fix)
    assert [(p.file, p.code) for p in found] == [("fix.yaml", "MW220")]


def test_a_broken_reference_of_swagger_2_is_no_breach(tmp_path: Path) -> None:
    value = swagger(operation={"parameters": [{"$ref": "#/parameters/Missing"}]})
    specification, _ = read_swagger(tmp_path, value)
    assert specification is not None
    findings = Findings()
    breaches(specification.library, findings)
    assert findings.problems == []


def test_a_pattern_that_was_read_is_no_breach_too(tmp_path: Path) -> None:
    value = swagger({"name": "q", "in": "query", "type": "string", "pattern": "(?i)^a$"})
    (tmp_path / "api.yaml").write_text(json.dumps(value, indent=1))
    findings = Findings()
    specification = read("api", tmp_path / "api.yaml", "api.yaml", (), findings)
    assert specification is not None
    breaches(specification.library, findings)
    assert [p.code for p in findings.problems] == ["MW252"]


def test_a_breach_in_a_parameter_of_swagger_2_names_what_is_wrong(tmp_path: Path) -> None:
    """The standard's schema has a branch for each place of a parameter, the body first."""
    parameter = {"name": "q", "in": "query", "type": "string", "description": 5}
    found = breaches_of_swagger(tmp_path, json.dumps(swagger(parameter)))
    assert ["'description'" in p.message for p in found] == [True]
