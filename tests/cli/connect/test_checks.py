"""A gateway is asked whether it can serve an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from engine.cli.connect.checks import CannotConnect, GatewayChecks, choose_model
from engine.config import agents
from tests.support.ports import free_port
from tests.support.recording import Recorder, answer, recorder


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


def checks(server: Recorder) -> GatewayChecks:
    return GatewayChecks(server.url, "mw-1")


def test_the_models_of_a_token_are_listed(server: Recorder) -> None:
    server.speak = answer(json.dumps({"data": [{"id": "a"}, {"id": "b-*"}]}).encode())
    assert checks(server).models() == ["a", "b-*"]
    assert server.requests[0].line == "GET /v1/models HTTP/1.1"
    assert server.requests[0].values("authorization") == ["Bearer mw-1"]


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        ("401 Unauthorized", b'{"error": {"message": "Expired."}}', "this token (401): Expired."),
        ("404 Not Found", b"", "answers 404: is this the address of a gateway"),
        ("200 OK", b"<html>", "/v1/models is not a list of models"),
        ("200 OK", b"[]", "/v1/models is not a list of models"),
    ],
)
def test_an_answer_that_is_no_list_says_what_to_do(
    server: Recorder, status: str, body: bytes, message: str
) -> None:
    server.speak = answer(body, status=status)
    with pytest.raises(CannotConnect, match=re.escape(message)):
        checks(server).models()


def test_nobody_at_the_address() -> None:
    with pytest.raises(CannotConnect, match=r"cannot reach http://127\.0\.0\.1:"):
        GatewayChecks(f"http://127.0.0.1:{free_port()}", "mw-1").models()
    with pytest.raises(CannotConnect, match="ftp://x"):
        GatewayChecks("ftp://x", "mw-1")


@pytest.mark.parametrize(
    ("headers", "works"),
    [(["Allow: GET, POST"], True), (["Allow: GET"], False), ([], False)],
)
def test_a_route_for_the_agents_requests(server: Recorder, headers: list[str], works: bool) -> None:
    server.speak = answer(b"", headers, status="405 Method Not Allowed")
    agent = agents.read("gemini").at(server.url, "org/m:x")
    if works:
        checks(server).check_path(agent)
    else:
        with pytest.raises(CannotConnect, match="no route for POST /v1beta/models/org/m:x:stream"):
            checks(server).check_path(agent)
    path = "/v1beta/models/org/m:x:streamGenerateContent"
    assert server.requests[0].line == f"OPTIONS {path} HTTP/1.1"


def test_a_model_is_chosen() -> None:
    names = ["b-*", "a", "gpt-5.5"]
    assert choose_model(names, "") == "a"
    assert choose_model(names, "gpt-5.5") == "gpt-5.5"
    assert choose_model(names, "b-7") == "b-7"
    with pytest.raises(CannotConnect, match="does not serve 'gpt-55' to this token; did you mean"):
        choose_model(names, "gpt-55")
    with pytest.raises(CannotConnect, match="it lists no models"):
        choose_model([], "x")
    with pytest.raises(CannotConnect, match="name a model"):
        choose_model(["b-*"], "")


def test_names_that_are_none_are_left_out(server: Recorder) -> None:
    names = ["a\x1b[2J", "", "x" * 300, "good", None, {"b": 1}]
    server.speak = answer(json.dumps({"data": [{"id": name} for name in names]}).encode())
    assert checks(server).models() == ["good"]


def test_an_answer_cannot_control_the_terminal(server: Recorder) -> None:
    body = json.dumps({"error": {"message": "\x1b[31mNo" + "!" * 9000}}).encode()
    server.speak = answer(body, status="401 Unauthorized")
    with pytest.raises(CannotConnect) as raised:
        checks(server).models()
    assert "␛[31mNo!" in str(raised.value)
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_an_address_with_a_secret_is_not_shown() -> None:
    for url in ("https://user:hush@gate", "https://gate/?key=hush", "https://gate/#hush"):
        with pytest.raises(CannotConnect, match="the URL of a gateway may not have a") as raised:
            GatewayChecks(url, "mw-1")
        assert "hush" not in str(raised.value)


@pytest.mark.parametrize("token", ["mw-1\n", "mw-\xe9"])
def test_a_token_with_other_characters_is_named(token: str) -> None:
    with pytest.raises(CannotConnect, match="the token has a character") as raised:
        GatewayChecks("http://gate", token)
    assert token not in str(raised.value)
