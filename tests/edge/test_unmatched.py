"""Requests that match no route."""

import orjson
import pytest

from tests.support.each import each
from tests.support.endpoints import client, ok, raw


def test_an_unknown_path_is_404_and_another_method_405_with_allow():
    gateway = client(ok)
    missing = gateway.simulate_get("/v2/nothing")
    assert (missing.status_code, missing.json["error"]["code"]) == (404, "not_found")
    other = gateway.simulate_get("/v1/x/m")
    assert (other.status_code, other.headers["allow"]) == (405, "POST")
    assert missing.headers["x-request-id"]


@pytest.mark.parametrize(
    "method", ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT"]
)
def test_every_method_that_is_not_there_is_405(method):
    assert client(ok).simulate_request(method, "/v1/x/m").status_code == 405


def test_a_miss_speaks_the_dialect_that_the_request_tells():
    gateway = client(ok)
    result = gateway.simulate_get("/v1/none", headers={"anthropic-version": "x"})
    assert result.json["type"] == "error"
    body = orjson.loads(raw(gateway.app, "/v1/none?key=k", "GET")[2])
    assert body["error"]["code"] == 404


def test_an_unknown_verb_is_404_with_the_near_one():
    gateway = client(ok, template="/v1/models/{model}:generateContent")
    result = gateway.simulate_post("/v1/models/org/m:generateContnet")
    assert result.status_code == 404
    assert "Did you mean ':generateContent'?" in result.json["error"]["message"]


def test_an_endless_path_is_cut_in_the_message():
    result = client(ok).simulate_get("/" + "x" * 8000)
    assert len(result.json["error"]["message"]) < 400


WITH = " Write the client's base address with '/v1' at its end."
WITHOUT = WITH.replace(" with ", " without ")


@each(
    ("path", "hint"),
    [
        ("/x/m", f" Did you mean /v1/x/m?{WITH}"),
        ("/v1/v1/x/m", f" Did you mean /v1/x/m?{WITHOUT}"),
        ("/v1/v1/v1/x/m", ""),
        ("//v1/x/m", f" Did you mean /v1/x/m?{WITHOUT.replace('/v1', '/')}"),
        ("/v1//x/m", f" Did you mean /v1/x/m?{WITHOUT.replace('/v1', '/')}"),
        ("//v1//y/", ""),
        ("/v1/y", ""),
        ("/y", ""),
        ("/v1", ""),
    ],
)
def test_a_base_address_with_another_end_is_named(path: str, hint: str) -> None:
    response = client(ok).simulate_post(path)
    assert response.status == "404 Not Found"
    assert response.json["error"]["message"] == f"There is no POST {path}.{hint}"


@each(
    ("template", "path", "other"),
    [("/v1/items", "/v1/items/", "/v1/items"), ("/v1/items/", "/v1/items", "/v1/items/")],
)
def test_a_slash_at_the_end_is_named(template: str, path: str, other: str) -> None:
    response = client(ok, template=template).simulate_post(path)
    assert response.json["error"]["message"] == f"There is no POST {path}. Did you mean {other}?"
