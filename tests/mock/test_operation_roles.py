"""Roles of operations in documents that say nothing of objects."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from tests.support.documents import document, get, read

HEADERS = {"Authorization": "Bearer secret"}


def call(client, method, path, body=None):
    return client.simulate_request(method, f"/v1{path}", headers=HEADERS, json=body)


def answers(schema, example):
    return {
        "200": {
            "description": "ok",
            "content": {
                "application/json": {
                    "schema": {"type": "object", "properties": schema},
                    "example": example,
                }
            },
        }
    }


LIST = answers({"data": {"type": "array"}}, {"data": [{"id": "p"}]})
ONE = answers({"id": {"type": "string"}}, {"id": "p-{{id}}"})
ID, PAGE = (
    {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name in ("id", "page")
)
PAPERS = {
    "/papers": {"get": get("list", responses=LIST), "post": get("create", responses=ONE)},
    "/papers/{id}": {
        "parameters": [ID],
        "get": get("show", responses=ONE),
        "delete": get("remove", responses=ONE),
    },
    "/papers/{id}/pages": {
        "parameters": [ID],
        "get": get("pages", responses=LIST),
        "post": get("add", responses=ONE),
    },
    "/papers/{id}/pages/{page}": {"parameters": [ID, PAGE], "get": get("page", responses=ONE)},
}


@pytest.fixture
def papers(tmp_path):
    """A mock of a document that was not written for it: it has no facts."""
    specification, _ = read(tmp_path, document(paths=PAPERS), mounts=("/v1",))
    return TestClient(build([(specification, dialects.get("openai"))], "secret"))


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/papers/p"), ("DELETE", "/papers/p"), ("GET", "/papers/p/pages/1")],
)
def test_an_object_of_a_document_without_facts_needs_not_have_been_created(papers, method, path):
    response = call(papers, method, path)
    assert (response.status_code, response.json["id"][:2]) == (200, "p-")


def test_a_list_of_a_document_without_facts_is_the_example_until_there_is_an_object(papers):
    assert call(papers, "GET", "/papers").json == {"data": [{"id": "p"}]}
    assert call(papers, "GET", "/papers/p/pages").json == {"data": [{"id": "p"}]}
    paper = call(papers, "POST", "/papers").json
    assert call(papers, "GET", "/papers").json == {"data": [paper]}


def test_an_object_of_a_document_without_facts_does_not_exist_when_it_was_deleted(papers):
    path = f"/papers/{call(papers, 'POST', '/papers').json['id']}"
    assert call(papers, "DELETE", path).status_code == 200
    assert call(papers, "GET", path).status_code == 404
    assert call(papers, "GET", f"{path}/pages").status_code == 404
    assert call(papers, "GET", "/papers").json == {"data": []}
