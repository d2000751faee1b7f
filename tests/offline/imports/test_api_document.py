"""An OpenAPI document as entries of gateway.yaml."""

import pytest
import yaml

from engine.offline.imports.api_document import Filters, read
from engine.source.problem import Findings
from tests.support.documents import document, get

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "login": {"type": "oauth2", "flows": {}},
}
PATHS = {
    "/orders": {"get": get("list", tags=["orders"]), "post": get("create", tags=["orders"])},
    "/orders/{id}": {
        "get": get("show", tags=["orders", "one"]),
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {}}],
    },
    "/users": {"get": get("users", tags=["users"])},
}


def imported(folder, upstream="http://shop.test", filters=None, name="", file="shop.yaml", **more):
    path = folder / file
    path.write_text(yaml.safe_dump(document(paths=PATHS, **more)))
    findings = Findings()
    api = read(path, name, upstream, filters or Filters(), findings)
    assert api is not None, findings.errors
    return api


@pytest.mark.parametrize(
    ("filters", "operations"),
    [
        (Filters(), "shop.*"),
        (Filters(tags=["users"]), ["shop.users"]),
        (Filters(tags=["users", "one"]), ["shop.show", "shop.users"]),
        (Filters(paths=["/orders"]), ["shop.list", "shop.create"]),
        (Filters(paths=["/orders*"]), ["shop.list", "shop.create", "shop.show"]),
        (Filters(paths=["/v1/users"]), ["shop.users"]),
        (Filters(tags=["one"], paths=["/orders*"]), ["shop.show"]),
    ],
)
def test_the_wanted_operations_are_those_of_the_route(tmp_path, filters, operations):
    api = imported(tmp_path, filters=filters, servers=[{"url": "/v1"}])
    assert api.route() == {"operations": operations, "to": [{"upstream": "shop"}]}


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(tags=["order"]), "no operation has the tag 'order': did you mean 'orders'?"),
        (Filters(tags=["x"]), "there are one, orders, users"),
        (Filters(paths=["/nothing"]), "no path matches '/nothing': .*`\\*` stands for any text"),
        (Filters(tags=["users"], paths=["/orders"]), "both one of the tags and one of the paths"),
    ],
)
def test_a_filter_that_accepts_nothing_says_what_there_is(tmp_path, filters, words):
    with pytest.raises(ValueError, match=words):
        imported(tmp_path, filters=filters)


SECRET = "${SHOP_API_KEY:-not-set}"


@pytest.mark.parametrize(
    ("scheme", "credential"),
    [
        ("bearer", {"bearer": SECRET}),
        ("login", {"bearer": SECRET}),
        ("header", {"header": "X-Key", "value": SECRET}),
        ("query", {"query": "key", "value": SECRET}),
        ("basic", {"basic": {"user": "${SHOP_API_KEY_USER:-user}", "password": SECRET}}),
    ],
)
def test_the_credential_is_the_one_that_the_document_asks_for(tmp_path, scheme, credential):
    components = {"securitySchemes": SCHEMES}
    api = imported(tmp_path, security=[{}, {scheme: []}], components=components)
    assert api.upstream_entry() == {"url": "http://shop.test", "credential": credential}
    assert api.variable == "SHOP_API_KEY"


def test_a_document_without_credentials_has_none(tmp_path):
    api = imported(tmp_path, components={"securitySchemes": SCHEMES})
    assert (api.upstream_entry(), api.variable) == ({"url": "http://shop.test"}, "")


def test_the_first_server_with_a_host_is_the_upstream_of_the_document(tmp_path):
    servers = [
        {"url": "/v1"},
        {"url": "https://{r}.test/", "variables": {"r": {"default": "eu"}}},
    ]
    assert imported(tmp_path, "", servers=servers).upstream == "https://eu.test"
    with pytest.raises(ValueError, match="give --upstream URL"):
        imported(tmp_path, "", servers=[{"url": "/v1"}])


@pytest.mark.parametrize(
    ("file", "name"), [("My Shop.v2.yaml", "my-shop"), ("openapi.yaml", "pets"), ("ß.json", "api")]
)
def test_the_name_is_that_of_the_file_or_of_its_folder(tmp_path, file, name):
    folder = tmp_path / "pets"
    folder.mkdir()
    assert imported(folder, file=file).name == name


def test_files_of_the_project_stay_and_others_are_copied(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    file = tmp_path / "shop.yaml"
    assert imported(tmp_path).copies(project) == {file: project / "openapi" / "shop.yaml"}
    assert imported(tmp_path).copies(tmp_path) == {file: file}
    parts = tmp_path / "parts.yaml"
    parts.write_text("type: object")
    components = {"schemas": {"It": {"$ref": "parts.yaml"}}}
    assert imported(tmp_path, components=components).copies(project) == {
        file: project / "openapi" / "shop" / "shop.yaml",
        parts: project / "openapi" / "shop" / "parts.yaml",
    }


@pytest.mark.parametrize(
    ("upstream", "url"),
    [
        ("https://other.test", "https://other.test/v2"),
        ("https://other.test/", "https://other.test"),
        ("https://other.test/api", "https://other.test/api"),
    ],
)
def test_an_upstream_without_a_path_gets_that_of_the_server(tmp_path, upstream, url):
    servers = [{"url": "https://api.shop.test/v2"}]
    assert imported(tmp_path, upstream, servers=servers).upstream == url


def test_several_paths_of_servers_need_a_choice(tmp_path, monkeypatch):
    servers = {"/users": {**PATHS["/users"], "servers": [{"url": "/v3"}]}}
    monkeypatch.setitem(PATHS, "/users", servers["/users"])
    with pytest.raises(ValueError, match=r"the paths /v2, /v3 of several servers: .*--path"):
        imported(tmp_path, "https://a.test", servers=[{"url": "/v2"}])
    some = imported(tmp_path, "https://a.test", Filters(paths=["/users"]), servers=[{"url": "/v2"}])
    assert some.upstream == "https://a.test/v3"
