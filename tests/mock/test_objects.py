"""What the mock keeps of the objects that its answers create."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from tests.support.documents import shipped

HEADERS = {"Authorization": "Bearer secret"}
BATCH = {"input_file_id": "file-1", "endpoint": "/v1/responses", "completion_window": "24h"}


@pytest.fixture(scope="module")
def client():
    openai = dialects.get("openai")
    names = ("openai", "openai-files", "openai-responses")
    return TestClient(build([(shipped(name)[0], openai) for name in names], "secret"))


def call(client, method, path, body=None):
    return client.simulate_request(method, f"/v1{path}", headers=HEADERS, json=body)


def listed(client, query):
    target = {"RAW_URI": f"/v1/containers?{query}"}
    return client.simulate_get("/v1/containers", headers=HEADERS, extras=target).json


def test_an_object_is_read_changed_listed_and_deleted(client):
    made = call(client, "POST", "/vector_stores", {"name": "one"}).json
    path = f"/vector_stores/{made['id']}"
    assert call(client, "GET", path).json["name"] == "one"
    assert call(client, "POST", path, {"name": "two"}).json["name"] == "two"
    assert made["id"] in [row["id"] for row in call(client, "GET", "/vector_stores").json["data"]]
    assert call(client, "DELETE", path).json == {
        "id": made["id"],
        "deleted": True,
        "object": "vector_store.deleted",
    }
    assert call(client, "GET", path).status_code == 404


def test_a_batch_goes_on_with_each_read_until_it_is_cancelled(client):
    path = f"/batches/{call(client, 'POST', '/batches', BATCH).json['id']}"
    states = [call(client, "GET", path).json["status"] for _ in range(2)]
    assert states == ["validating", "in_progress"]
    assert call(client, "POST", f"{path}/cancel").json["status"] == "cancelling"
    assert call(client, "GET", path).json["status"] == "cancelling"


def test_pages_of_a_list_follow_each_other(client):
    ids = [call(client, "POST", "/containers", {"name": "c"}).json["id"] for _ in range(3)]
    page = listed(client, "limit=2")
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (ids[:2], True)
    page = listed(client, f"limit=2&after={page['last_id']}")
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (ids[2:], False)


@pytest.mark.parametrize(("store", "status"), [({}, 200), ({"store": False}, 404)])
def test_a_response_is_found_if_it_was_stored(client, store, status):
    made = call(client, "POST", "/responses", {"model": "m", "input": "x", **store}).json
    assert call(client, "GET", f"/responses/{made['id']}").status_code == status


def test_an_object_below_another_one_needs_it(client):
    assert call(client, "GET", "/conversations/conv_1/items").status_code == 404


def test_a_response_refers_to_objects_that_exist(client):
    request = {"model": "gpt-4o", "input": "hi", "conversation": {"id": "conv_1"}}
    assert call(client, "POST", "/responses", request).status_code == 404
    request["conversation"] = call(client, "POST", "/conversations", {}).json["id"]
    assert call(client, "POST", "/responses", request).status_code == 200


def test_a_stored_stream_is_read_again_from_an_event_on(client):
    request = {"model": "gpt-4o", "input": "a b", "stream": True}
    events = call(client, "POST", "/responses", request).text.split("\n\n")
    name = events[0].split('"id":"')[1].split('"')[0]
    target = {"RAW_URI": f"/v1/responses/{name}?stream=true&starting_after=1"}
    again = client.simulate_get(f"/v1/responses/{name}", headers=HEADERS, extras=target)
    assert len(again.text.split("\n\n")) == len(events) - 2
    assert name in again.text
