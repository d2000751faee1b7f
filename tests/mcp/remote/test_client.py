"""The messages to other servers."""

import json

import pytest

from engine.mcp.remote.client import RemoteAnswer, RemoteClient, RemoteSession, SessionEnded
from engine.mcp.remote.replies import RemoteError
from tests.support.each import each

OLD = RemoteSession("2025-06-18", "s1")


@pytest.fixture
def client():
    return RemoteClient("modelway", "1")


def replay(*answers):
    sent = []
    left = [*answers]

    def send(message):
        sent.append(message)
        return left.pop(0)

    return send, sent


def test_a_server_of_the_newest_revision_needs_no_session(client):
    send, sent = replay(RemoteAnswer(200, {"supportedVersions": ["2026-07-28"]}))
    assert client.open(send) == RemoteSession("2026-07-28")
    assert [message.method for message in sent] == ["server/discover"]


@each("refusal", [RemoteAnswer(404), RemoteAnswer(400, error=RemoteError("no", -32601))])
def test_an_older_one_gets_initialize(client, refusal):
    begun = RemoteAnswer(200, {"protocolVersion": "2025-06-18"}, session="s1")
    send, sent = replay(refusal, begun, RemoteAnswer(202))
    assert client.open(send) == OLD
    assert [m.method for m in sent][1:] == ["initialize", "notifications/initialized"]
    assert ("mcp-session-id", "s1") in sent[2].headers
    assert json.loads(sent[1].body)["params"]["capabilities"] == {}


@each(
    "answer",
    [
        RemoteAnswer(200, {"protocolVersion": "1999-01-01"}),
        RemoteAnswer(200, {"protocolVersion": "2025-06-18"}, session="x" * 2_000),
        RemoteAnswer(200, {"protocolVersion": "2025-06-18"}, session="a\nb"),
        RemoteAnswer(500),
    ],
)
def test_a_session_that_cannot_be_begun_is_an_error(client, answer):
    send, _ = replay(answer)
    with pytest.raises(RemoteError):
        client.open(send, is_modern=False)


@each("status", [401, 403, 429, 500])
def test_a_server_that_refuses_everybody_is_not_asked_again_in_another_way(client, status):
    send, sent = replay(RemoteAnswer(status))
    with pytest.raises(RemoteError, match=str(status)):
        client.open(send)
    assert len(sent) == 1


@each("name, header", [("show", "show"), ("é", "=?base64?w6k=?="), ("=?x", "=?base64?PT94?=")])
def test_a_call_names_its_tool_in_a_header(client, name, header):
    message = client.call(client.modern, name, {"a": 1}, 10)
    assert ("mcp-name", header) in message.headers
    assert json.loads(message.body)["params"]["name"] == name


def test_an_older_session_has_its_id_and_no_headers_of_the_newest(client):
    names = dict(client.call(OLD, "show", {}, 10).headers)
    assert names["mcp-session-id"] == "s1"
    assert "mcp-method" not in names
    assert "_meta" not in json.loads(client.call(OLD, "show", {}, 10).body)["params"]


def test_a_404_ends_a_session_and_is_an_error_without_one(client):
    with pytest.raises(SessionEnded):
        client.result_of(OLD, RemoteAnswer(404))
    with pytest.raises(RemoteError, match="404"):
        client.result_of(client.modern, RemoteAnswer(404))


def test_pages_are_bounded(client):
    answers = [RemoteAnswer(200, {"tools": [], "nextCursor": str(n)}) for n in range(100)]
    send, sent = replay(*answers)
    assert len([*client.tools(client.modern, send)]) == len(sent) == 20
