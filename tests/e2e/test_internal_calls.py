"""No request of a socket is one from inside, whatever its head says."""

import json

import pytest

from tests.support.recording import answer, ask, assert_refused, recorder, request
from tests.support.running import gateway
from tests.support.small import COMPLETION, chat, project

CLAIMS = (
    "Internal: everything",
    "X-Internal: 1",
    "Caller: everything",
    "X-Modelway-Caller: everything",
    "Modelway.Caller: everything",
    "wsgi.input: everything",
    "wsgi-input: everything",
    "gunicorn.socket: 1",
    "Remote-User: everything",
    "X-Remote-User: everything",
    "Connection: internal",
    "Forwarded: for=127.0.0.1",
    "X-Forwarded-For: 127.0.0.1",
)


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    folder = tmp_path_factory.mktemp("internal")
    with recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        with gateway(folder, project(folder, upstream.url, {"chat": "[]"}, workers=1)) as running:
            yield running, upstream


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_request_of_a_socket_needs_a_token_whatever_it_claims(front, claim):
    running, upstream = front
    body = json.dumps({"model": "one", "messages": []}).encode()
    upstream.reset()
    assert_refused(
        ask(running.port, request("/v1/chat/chat/completions", body, headers=[claim])), 401
    )
    assert upstream.requests == []


def test_the_same_request_with_a_token_is_served(front):
    running, upstream = front
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    assert ask(running.port, chat()).status == 200
