"""Facts about objects: read from documents and the config, and proved against the documents."""

from pathlib import Path

from engine.plan.assembly.make_plan import make_plan
from tests.support.each import each

DOCUMENT = """
openapi: 3.1.0
info: {title: Files, version: "1"}
servers: [{url: /v1}]
paths:
  /files/{file_id}:
    post:
      operationId: changeFile
      x-modelway-objects: FACTS
      parameters:
        - {name: file_id, in: path, required: true, schema: {type: string}}
        - {name: after, in: query, schema: {type: string}}
        - {name: X-File, in: header, schema: {type: string}}
      requestBody:
        content:
          application/json:
            schema: &file
              type: object
              additionalProperties: false
              properties:
                id: {type: string}
                data:
                  type: array
                  items:
                    type: object
                    properties: {id: {type: string}}
                    additionalProperties: false
      responses: {"200": {description: ok, content: {application/json: {schema: *file}}}}
  /other:
    get: {operationId: other, responses: {"204": {description: ok}}}
"""
CONFIG = """
version: 1
server: {listen: "127.0.0.1:8080"}
specs: {f: {document: files.yaml, dialect: openai, objects: {OBJECTS}}}
upstreams: {up: {url: "https://up.example/v1"}}
routes: [{operations: ["f.*"], to: [{upstream: up}], auth: none}]
KEY
"""
KEY = "objects: {key: 0123456789abcdef0123456789abcdef}"


def plan(folder: Path, facts: str = "{}", objects: str = "", key: str = KEY):
    text = CONFIG.replace("OBJECTS", objects).replace("KEY", key)
    (folder / "files.yaml").write_text(DOCUMENT.replace("FACTS", facts))
    (folder / "gateway.yaml").write_text(text)
    return make_plan(folder / "gateway.yaml", {})


def facts_of(result, name="f.changeFile"):
    assert result.findings.errors == []
    return next(route.objects for route in result.plan.routes if route.operation.id == name)


@each(
    "facts",
    [
        "{names: {file: [path.file_id, query.after, header.x-file, 'body#/id']}}",
        "{names: {file: 'body#/data/*/id'}, creates: {file: ['body#/id', 'body#/**/id']}}",
        "{creates: {file: [header.location, 'event#/id', 'lines#/any']}}",
        "{lists: {kind: file, forward: after, items: 'body#/data'}}",
        "{marks: [{kind: file, form: text, at: 'body#/id', shown: 'body#/data/*/id'}]}",
        "{streams: 'body#/id'}",
        "{streams: 'body#'}",
    ],
)
def test_places_that_the_operation_has(tmp_path, facts):
    assert facts_of(plan(tmp_path, facts)) is not None


@each(
    ("facts", "words"),
    [
        ("{names: {file: path.id}}", "no 'path.id': its path is"),
        ("{names: {file: query.befor}}", "it has no such parameter"),
        ("{names: {file: header.x-id}}", "it has no such parameter"),
        ("{names: {file: 'body#/file_id'}}", "its schemas have no such member"),
        ("{creates: {file: 'body#/data/*/name'}}", "its schemas have no such member"),
        ("{creates: {file: 'body#/x/**/name'}}", "its schemas have no such member"),
        ("{creates: {file: header.x-file}}", "its responses have no such header"),
        ("{lists: {kind: file, forward: page}}", "it has no such parameter"),
        ("{lists: {kind: file, items: 'body#/files'}}", "its schemas have no such member"),
        ("{marks: [{kind: file, form: map, at: 'body#/meta'}]}", "no such member"),
        ("{names: 7}", "a mapping of kinds"),
        ("{streams: 'body#/file'}", "its schemas have no such member"),
    ],
)
def test_every_other_place_is_an_error_in_the_document(tmp_path, facts, words):
    (problem,) = plan(tmp_path, facts).findings.errors
    assert (problem.code, problem.file.endswith("files.yaml")) == ("MW490", True)
    assert words in problem.message


def test_the_config_replaces_what_the_document_says(tmp_path):
    result = plan(tmp_path, "{names: {file: path.id}}", "changeFile: {names: {file: query.after}}")
    assert [place.text for place in facts_of(result).names] == ["query.after"]
    (problem,) = plan(tmp_path, "{}", "changeFile: {names: {file: query.x}}").findings.errors
    assert (problem.code, problem.line) == ("MW490", 4)


def test_facts_for_an_operation_that_there_is_not(tmp_path):
    (problem,) = plan(tmp_path, "{}", "chageFile: {}").findings.errors
    assert (problem.code, problem.hint) == ("MW490", "did you mean 'changeFile'?")


def test_without_a_key_facts_are_proved_and_not_used(tmp_path):
    assert facts_of(plan(tmp_path, "{names: {file: path.file_id}}", key="")) is None
    assert plan(tmp_path, "{names: {file: path.id}}", key="").findings.errors


def test_an_operation_without_facts_has_none(tmp_path):
    assert facts_of(plan(tmp_path), "f.other") is None


def test_the_body_is_parsed_where_it_has_ids(tmp_path):
    result = plan(tmp_path, "{names: {file: 'body#/id'}}")
    needs = {route.operation.name: route.needs_body for route in result.plan.routes}
    assert needs == {"changeFile": True, "other": False}
