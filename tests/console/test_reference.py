"""The merged document: its operations, security, parameters and tags, and how it is served."""

import json
import shutil
import subprocess

import pytest

from engine.console import reference
from engine.console.pages import FILES
from engine.console.reference import merged
from engine.plan.assembly.make_plan import make_plan
from tests.console.conftest import openapi_errors, planned
from tests.support.agents import environment, missing_node
from tests.support.exchanges import new_exchange

CONFIG = """
version: 1
specs: {shop: {document: shop.yaml, mount: [/a, /b]}}
upstreams: {shop: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: shop}], auth: none}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
tags: [{name: Items, description: All of them}]
paths:
  /items/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: size, in: query, schema: {type: string}}
    get:
      operationId: read
      tags: [Items]
      parameters: [{name: size, in: query, schema: {type: integer}}]
      responses: {"200": {description: fine}}
"""


def test_the_shipped_documents_make_a_valid_one(shipped):
    document = merged(shipped, "http://h")
    assert openapi_errors(document) == []
    routed = {route.operation.id for route in shipped.routes}
    listed = {o["operationId"] for item in document["paths"].values() for o in item.values()}
    assert listed <= routed
    assert len(listed) > 20
    assert document["servers"] == [{"url": "http://h"}]


def test_chat_operations_have_the_programs_of_the_home_page(shipped):
    paths = merged(shipped, "http://h")["paths"]
    samples = paths["/v1/messages"]["post"]["x-codeSamples"]
    assert [sample["label"] for sample in samples] == ["curl", "Python", "JavaScript"]
    assert samples[0]["lang"] == "Shell"
    assert samples[0]["source"].startswith("curl http://h/v1/messages ")
    assert all("claude-sonnet" in sample["source"] for sample in samples)
    assert "x-codeSamples" not in paths["/v1/embeddings"]["post"]


def test_a_plan_that_is_served_has_the_same_document(text):
    plan = planned(text)
    before = merged(plan, "http://h")
    assert merged(plan.served(), "http://h") == before


def test_unrouted_operations_and_their_schemas_are_left_out(without_responses):
    document = merged(without_responses, "http://h")
    assert "/v1/responses" not in document["paths"]
    assert "ResponseRequest" not in document["components"]["schemas"]


def test_security_names_where_the_gateway_accepts_tokens(shipped):
    document = merged(shipped, "http://h")
    chat = document["paths"]["/v1/chat/completions"]["post"]
    assert {"bearer": []} in chat["security"]
    schemes = document["components"]["securitySchemes"]
    assert schemes["bearer"]["scheme"] == "bearer"
    names = [
        n for p in document["paths"].values() for o in p.values() for s in o["security"] for n in s
    ]
    assert set(names) == set(schemes)


def shop(folder, document=DOCUMENT):
    (folder / "shop.yaml").write_text(document)
    result = make_plan(folder / "gateway.yaml", {}, CONFIG)
    assert result.plan is not None, result.problems
    return merged(result.plan, "http://h")


def test_parameters_of_a_path_are_copied_to_its_operations(tmp_path):
    operation = shop(tmp_path)["paths"]["/a/items/{id}"]["get"]
    types = {entry["name"]: entry["schema"]["type"] for entry in operation["parameters"]}
    assert types == {"id": "string", "size": "integer"}


def test_an_operation_has_its_full_name_and_is_listed_once(tmp_path):
    document = shop(tmp_path)
    assert list(document["paths"]) == ["/a/items/{id}"]
    operation = document["paths"]["/a/items/{id}"]["get"]
    assert operation["operationId"] == "shop.read"
    assert operation["description"] == "Also at `/b/items/{id}`."
    assert operation["security"] == []


def test_tags_have_the_prefix_of_their_document(tmp_path):
    document = shop(tmp_path)
    assert document["paths"]["/a/items/{id}"]["get"]["tags"] == ["shop: Items"]
    assert document["tags"] == [{"name": "shop: Items", "description": "All of them"}]


def test_an_operation_with_an_empty_list_of_tags_has_one(tmp_path):
    document = shop(tmp_path, DOCUMENT.replace("tags: [Items]", "tags: []"))
    assert document["paths"]["/a/items/{id}"]["get"]["tags"] == ["shop: all"]


def ask(handler, host):
    environ = {"wsgi.url_scheme": "http", "HTTP_HOST": host}
    return handler(new_exchange("GET", "/openapi.json", "", environ))


def test_the_server_is_the_base_url_of_the_request(client):
    document = client.simulate_get("/openapi.json", host="models.example.com").json
    assert document["servers"] == [{"url": "http://models.example.com"}]
    assert "the-address-of" not in str(document)


def test_the_document_is_merged_once_for_all_hosts(shipped, monkeypatch):
    calls = []

    def counting(*arguments):
        calls.append(arguments)
        return merged(*arguments)

    monkeypatch.setattr(reference, "merged", counting)
    handler = reference.document(shipped)
    answers = {ask(handler, f"host-{n}").body for n in range(20)}
    assert len(answers) == 20
    assert len(calls) == 1


def test_numbers_of_more_than_64_bits_are_served(shipped, monkeypatch):
    monkeypatch.setattr(reference, "merged", lambda plan, base: {"maximum": 2**70, "url": base})
    handler = reference.document(shipped)
    assert str(2**70).encode() in ask(handler, "host").body


def test_operations_on_one_path_are_listed_each(tmp_path):
    (tmp_path / "shop.yaml").write_text(
        """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items/{id}:
    get:
      operationId: byId
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: fine}}
  /items/{name}:
    get:
      operationId: byName
      description: By its name.
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: fine}}
  /chat#stream: {post: {operationId: stream, responses: {"200": {description: fine}}}}
  /chat:
    parameters: [{name: size, in: query, schema: {type: integer}}]
    post: {operationId: chat, responses: {"200": {description: fine}}}
  /chat?beta=true:
    parameters: [{name: size, in: query, schema: {type: string}}]
    post: {operationId: beta, responses: {"200": {description: fine}}}
"""
    )
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    plan = make_plan(tmp_path / "gateway.yaml", {}).plan
    assert plan is not None
    document = merged(plan, "http://h")
    assert openapi_errors(document) == []
    listed = {
        key: operation["operationId"]
        for key, item in document["paths"].items()
        for operation in item.values()
    }
    assert listed == {
        "/a/items/{id}": "shop.byId",
        "/a/items/{name}#byName": "shop.byName",
        "/a/chat": "shop.stream",
        "/a/chat#chat": "shop.chat",
        "/a/chat?beta=true": "shop.beta",
    }
    by_name = document["paths"]["/a/items/{name}#byName"]["get"]
    assert by_name["description"].startswith("By its name.\n\n`shop.byId` has the same method")
    beta = document["paths"]["/a/chat?beta=true"]["post"]
    assert [p["schema"]["type"] for p in beta["parameters"]] == ["string"]


DOCUMENT_32 = """
openapi: 3.2.0
info: {title: Shop, version: "1"}
tags: [{name: Items, summary: All of them, parent: Shop, kind: nav}]
paths:
  /items:
    query: {operationId: search, tags: [Items], responses: {"200": {description: fine}}}
    additionalOperations:
      LINK:
        operationId: link
        parameters: [{name: q, in: query, schema: {type: string}}]
        responses: {"200": {description: fine}}
"""


def test_methods_of_3_2_are_listed_as_it_has_them(tmp_path):
    (tmp_path / "shop.yaml").write_text(DOCUMENT_32)
    document = merged(make_plan(tmp_path / "gateway.yaml", {}, CONFIG).plan, "http://h")
    assert document["openapi"] == "3.2.0"
    item = document["paths"]["/a/items"]
    assert item["query"]["operationId"] == "shop.search"
    assert {"name": "shop: Items", "description": "All of them"} in document["tags"]
    link = item["additionalOperations"]["LINK"]
    assert (link["operationId"], link["parameters"][0]["name"]) == ("shop.link", "q")


SWAGGER = """
swagger: "2.0"
info: {title: Shop, version: "1"}
consumes: [application/x-www-form-urlencoded, multipart/form-data]
definitions: {Item: {type: object, properties: {n: {type: integer, x-nullable: true}}}}
parameters: {Size: {name: size, in: query, type: integer}}
paths:
  /items/{id}:
    post:
      operationId: add
      consumes: [application/x-www-form-urlencoded]
      parameters:
        - {name: id, in: path, required: true, type: array, items: {}, collectionFormat: pipes}
        - {name: q, in: query, type: array, items: {type: string}, collectionFormat: ssv}
        - {$ref: "#/parameters/Size"}
        - {name: f, in: formData, type: array, items: {type: string}, collectionFormat: pipes}
        - {name: g, in: formData, type: integer, allowEmptyValue: true}
      responses: {"200": {description: fine, schema: {$ref: "#/definitions/Item"}}}
"""


def test_a_document_of_swagger_2_is_merged_as_openapi_3(tmp_path):
    (tmp_path / "shop.yaml").write_text(SWAGGER)
    document = merged(make_plan(tmp_path / "gateway.yaml", {}, CONFIG).plan, "http://h")
    assert openapi_errors(document) == []
    item = document["components"]["schemas"]["Item"]
    assert item["properties"]["n"]["type"] == ["integer", "null"]
    operation = document["paths"]["/a/items/{id}"]["post"]
    assert "consumes" not in operation
    assert [parameter["name"] for parameter in operation["parameters"]] == ["id", "q", "size"]


SHOWN = """
import { pluginFor } from "./plugin.js";
const React = { createElement: (type, { request }) => request };
const headers = { map: (change) => ({ authorization: change(process.argv[2]) }) };
const update = (changes) => ({ ...changes, update: (name, change) =>
  update({ ...changes, [name]: change(changes[name]) }) });
const { curl } = pluginFor(() => "mw-secret")({ React }).wrapComponents;
const request = update({ url: "/?key=mw-secret", headers });
const shown = curl("curl")({ request });
console.log(JSON.stringify([shown.url, shown.headers.authorization]));
"""


@pytest.mark.skipif(bool(missing_node()), reason=missing_node())
@pytest.mark.parametrize("scheme", ["Bearer mw-secret", "Basic dG9rZW46bXctc2VjcmV0"])
def test_no_command_of_the_page_shows_the_token(tmp_path, scheme):
    for name in ("plugin.js", "resolve.js"):
        shutil.copy(FILES / "docs" / name, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "shown.js").write_text(SHOWN)
    command, environ = ["node", "shown.js", scheme], environment(tmp_path)
    output = subprocess.check_output(command, cwd=tmp_path, env=environ)
    assert json.loads(output) == ["/?key=YOUR_TOKEN", f"{scheme.split()[0]} YOUR_TOKEN"]
