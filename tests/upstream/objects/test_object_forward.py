"""Requests for objects: where they go, and what their responses have."""

import orjson
import pytest

from engine.exchange.opened_ids import Holder
from engine.upstream.objects.object_forward import ObjectForward, credential_index, with_credential
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.object_routes import forward, opened, sealed, target
from tests.support.upstreams import Client, FakeResponse

FACTS = {"creates": {"file": ["body#/id", {"at": "body#/url", "after": "files/", "address": True}]}}


def answered(text, status=200):
    return Client(FakeResponse(status, body=[text]), base_path="/v1")


def body_of(response):
    """The JSON of a response, which may come in pieces."""
    data = response.body
    return orjson.loads(data if isinstance(data, bytes) else b"".join(data))


def keys(client):
    """The keys with which requests were sent."""
    return [dict(request.headers).get("x-key") for request in client.requests]


def test_a_request_goes_to_the_upstream_and_account_of_its_object():
    clients = Client(), Client()
    alpha = target("alpha", "one", "two", client=clients[0])
    beta = target("beta", "three", client=clients[1])
    handler = forward(ObjectForward, FACTS, beta, alpha)
    for _ in range(3):
        handler(opened(Holder("alpha", 1)))
    assert (keys(clients[0]), keys(clients[1])) == (["two"] * 3, [])


def test_the_account_that_answered_is_in_the_new_id():
    client = Client(*(FakeResponse(body=[b'{"id":"file-1"}']) for _ in range(2)))
    handler = forward(ObjectForward, FACTS, target("alpha", "one", "two", client=client))
    ids = [body_of(handler(opened()))["id"] for _ in range(2)]
    assert keys(client) == ["one", "two"]
    assert ids == [sealed("file-1"), sealed("file-1", holder=Holder("alpha", 1))]


def test_what_a_request_without_objects_gets_is_not_sealed():
    handler = forward(ObjectForward, FACTS, target("alpha", client=answered(b'{"id":"file-1"}')))
    assert body_of(handler(new_exchange()))["id"] == "file-1"


def test_an_object_elsewhere_is_a_400_and_a_removed_account_a_404():
    handler = forward(ObjectForward, FACTS, target("beta", "three"))
    for holder, status in ((Holder("alpha"), 400), (Holder("beta", 1), 404)):
        with pytest.raises(GatewayError) as raised:
            handler(opened(holder))
        assert raised.value.status == status


def test_an_address_leads_back_through_the_gateway():
    client = answered(b'{"url":"http://upstream.test/files/a"}')
    handler = forward(ObjectForward, FACTS, target("alpha", client=client))
    url = body_of(handler(opened()))["url"]
    assert url == f"http://here/v1/files/{sealed('a')}"


def test_an_error_of_the_vendor_has_the_callers_id():
    client = answered(b'{"error":{"message":"No file-1"}}', 404)
    handler = forward(ObjectForward, FACTS, target("alpha", client=client))
    answer = handler(opened(Holder("alpha"), **{"file-1": "file-mwX"}))
    assert body_of(answer)["error"]["message"] == "No file-mwX"


@each("facts", [FACTS, {"creates": {"file": "lines#/id"}}])
def test_a_part_of_an_answer_with_ids_is_refused(facts):
    kind = "application/json" if facts is FACTS else "application/x-ndjson"
    answer = FakeResponse(206, [("content-type", kind)], body=[b'{"id":"file-1"'])
    client = Client(answer, base_path="/v1")
    with pytest.raises(GatewayError, match="a part of its answer"):
        forward(ObjectForward, facts, target("alpha", client=client))(opened())


def test_lines_with_ids_are_sealed_whatever_the_success():
    answer = FakeResponse(203, [("content-type", "application/x-ndjson")], body=[b'{"id":"a"}'])
    handler = forward(
        ObjectForward,
        {"creates": {"file": "lines#/id"}},
        target("alpha", client=Client(answer, base_path="/v1")),
    )
    assert body_of(handler(opened()))["id"] == sealed("a")


def test_one_credential_of_several():
    upstream = target("alpha", "one", "two").upstream
    second = with_credential(upstream, 1)
    assert [*second.credentials] == [[*upstream.credentials][1]]
    assert second.states is upstream.states
    alone = target("beta", "three").upstream
    assert with_credential(alone, 0) is alone
    assert credential_index(upstream, [*upstream.credentials][1]) == 1
    assert credential_index(alone, None) == 0
