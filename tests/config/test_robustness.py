"""Whatever a config or a document says: a plan or problems, and never a traceback.

The gate tries a twelfth of the values at each place, `tox -e thorough` all of them.
"""

import json
from pathlib import Path

import pytest

from engine.app.build import build
from engine.plan.assembly.make_plan import make_plan
from tests.support import paths, yaml_text
from tests.support.each import each
from tests.support.thorough import share

ODD = [None, 1, -1, 1.5, True, "", "x", "*", "$", "${", "/", "#", [], [None], {}, {"x": None}]
CASES = paths.CASES / "configs"

CONFIG = yaml_text.load("""
version: 1
server: {listen: "127.0.0.1:0", workers: 1, max_body: 1MB, grace: 1s}
specs:
  shop: {document: shop.json, dialect: openai, mount: [/v1], token: [bearer, {header: x-key}]}
upstreams:
  main:
    url: http://127.0.0.1:9/v1
    credential: {header: x-key, value: v}
    timeouts: {connect: 1s}
    forward_headers: [x-a]
    tls: {verify: false}
models:
  small: {to: [{upstream: main, model: s, weight: 2}], fallback: [large]}
  large: {to: [{upstream: main}], created: 5}
policies: [{max_body: 1MB}]
routes:
  - operation: shop.chat
    model: {from: "$request.body#/model", default: small}
    policies: [{max_body: 1KB}]
  - operations: [shop.listItems, "shop.get*"]
    to: [{upstream: main}]
  - {operations: shop.list*, answer: models, auth: none, validate: "off"}
tokens:
  - {name: a, sha256: "", expires: "2030-01-01",
     models: [small]}
""")
CONFIG["tokens"][0]["sha256"] = "ab" * 32

DOCUMENT = yaml_text.load("""
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://{host}/v1", variables: {host: {default: example.com}}}]
security: [{token: []}]
paths:
  /chat:
    post:
      operationId: chat
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: "#/components/schemas/Chat"}}
          multipart/form-data:
            schema: {type: object, properties: {model: {type: string}, n: {type: integer}}}
            encoding: {n: {contentType: text/plain, style: form, explode: true}}
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {model: {type: string}}}
            encoding: {model: {style: form}}
      responses: {"200": {description: ok, content: {application/json: {example: 1}}}}
  /items/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: array, items: {type: string}}}
    get:
      operationId: getItem
      servers: [{url: /v2}]
      security: []
      parameters:
        - {name: q, in: query, style: deepObject, explode: true, schema: {type: object,
           properties: {a: {type: integer}}}}
        - {name: h, in: header, content: {application/json: {schema: {type: object}}}}
        - {name: c, in: cookie, schema: {$ref: "#/components/schemas/Word"}}
        - {$ref: "#/components/parameters/Page"}
      responses: {"101": {description: switch}}
  /list:
    get: {operationId: listItems, responses: {"200": {description: ok}}}
components:
  parameters:
    Page: {name: page, in: query, required: true, schema: {type: integer, minimum: 1}}
  securitySchemes:
    token: {type: http, scheme: bearer}
    key: {type: apiKey, in: query, name: key}
  schemas:
    Word: {type: string, enum: [a, b], pattern: "^a", format: date}
    Chat:
      type: object
      required: [model]
      properties:
        model: {type: string, readOnly: true}
        more: {anyOf: [{$ref: "#/components/schemas/Word"}, {type: "null"}]}
        self: {$ref: "#/components/schemas/Chat"}
""")


def paths(value, at=()):
    """Every place in a document."""
    yield at
    if isinstance(value, dict):
        for key, below in value.items():
            yield from paths(below, (*at, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from paths(below, (*at, index))


def value_at(document, at):
    """The value at a place."""
    for step in at:
        document = document[step]
    return document


def changed(document, at, new):
    """The document with another value at a place; without it where `new` is Ellipsis."""
    if not at:
        return None if new is ... else new
    copy = json.loads(json.dumps(document))
    holder = copy
    for step in at[:-1]:
        holder = holder[step]
    if new is ...:
        del holder[at[-1]]
    else:
        holder[at[-1]] = new
    return copy


def renamed(document, at, key):
    """The document with the last key of a place spelt otherwise."""
    if not at or isinstance(at[-1], int):
        return document
    copy = json.loads(json.dumps(document))
    holder = copy
    for step in at[:-1]:
        holder = holder[step]
    holder[key] = holder.pop(at[-1])
    return copy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.json").write_text(json.dumps(DOCUMENT, indent=1), "utf-8")
    return tmp_path


def make(config):
    return make_plan(Path("gateway.yaml"), {}, json.dumps(config, indent=1))


def check(result, input_text):
    """Problems or a plan, and a plan that can be built: what was checked is what runs."""
    if result.plan is not None:
        build(result.plan)
    assert (result.plan is None) == bool(result.findings.errors), input_text
    for problem in result.problems:
        assert problem.message, input_text
        assert "Traceback" not in problem.message, input_text


def label(at):
    return ".".join(str(step) for step in at) or "all"


def test_the_files_of_these_tests_are_nearly_right(folder):
    codes = {problem.code for problem in make(CONFIG).findings.errors}
    assert codes <= {"MW302", "MW303"}


def numbered(document):
    """Every place in a document with its number, as cases of a test."""
    return [pytest.param(number, at, id=label(at)) for number, at in enumerate(paths(document))]


@pytest.mark.parametrize(("number", "at"), numbered(CONFIG))
def test_a_config_with_anything_at_one_place_is_planned_or_refused(folder, number, at):
    for new in share([..., *ODD], number, 12):
        check(make(changed(CONFIG, at, new)), new)
    check(make(renamed(CONFIG, at, "")), "an empty key")


STRINGS = [at for at in paths(CONFIG) if isinstance(value_at(CONFIG, at), str)]


@each("at", STRINGS, ids=label)
@each("reference", ["${KEY}", "a${KEY}b", "${file:key}", "*${KEY}", "http://${KEY}"])
def test_no_problem_shows_a_secret_wherever_it_was_put(folder, at, reference):
    (folder / "key").write_text("sk-secret-1\n")
    text = json.dumps(changed(CONFIG, at, reference), indent=1)
    result = make_plan(Path("gateway.yaml"), {"KEY": "sk-secret-1"}, text)
    assert [p for p in result.problems if "sk-secret" in p.message + p.hint] == []


REFERENCES = [{"$ref": "#/nowhere"}, {"$ref": "#/paths"}, {"$ref": 5}, {"$ref": "#"}]


@pytest.mark.parametrize(("number", "at"), numbered(DOCUMENT))
def test_a_document_with_anything_at_one_place_is_read_or_refused(folder, number, at):
    file = folder / "shop.json"
    for new in share([..., *ODD, *REFERENCES], number):
        file.write_text(json.dumps(changed(DOCUMENT, at, new), indent=1), "utf-8")
        check(make(CONFIG), new)
    for key in share(("", "/", "{", "{x}", "é", "$ref"), number):
        file.write_text(json.dumps(renamed(DOCUMENT, at, key), indent=1), "utf-8")
        check(make(CONFIG), key)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.1"])
def test_a_json_document_with_an_emoji_is_planned_like_any_other(folder, version):
    """json.dumps writes one as two \\u escapes, which no reader of YAML takes."""
    document = {**DOCUMENT, "openapi": version, "info": {"title": "\U0001f600", "version": "1"}}
    (folder / "shop.json").write_text(json.dumps(document), "utf-8")
    check(make(CONFIG), version)


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"\0" * 100, b"{", b"[[[[", b"\t", b"- - - -", b"%"]
)
def test_any_bytes_are_refused_as_config_and_as_document(folder, data):
    (folder / "shop.json").write_bytes(data)
    assert make(CONFIG).plan is None
    (folder / "gateway.yaml").write_bytes(data)
    result = make_plan(folder / "gateway.yaml", {})
    assert result.plan is None
    assert result.findings.errors


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_config_that_cannot_be_read_is_one_problem(folder, name):
    result = make_plan(folder / name, {})
    assert [(p.code, p.line) for p in result.problems] == [("MW002", 0)]
