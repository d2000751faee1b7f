"""A rehearsal runs the code of a real request, and has no side effects."""

import io
import json
import logging
import socket

import pytest
from msgspec import structs

from engine.app.build import build
from engine.app.services.worker_services import services_of as connect
from engine.offline.rehearsal.observation import UpstreamAnswers, request
from engine.offline.rehearsal.rehearse import rehearse
from engine.values.caller import Caller
from tests.support.recording import recorder
from tests.support.rehearsing import CONFIG, SECRET, planned

CHAT = {"model": "big", "messages": [{"role": "user"}]}
ALICE = Caller("alice")


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project")).plan


def chat(body=CHAT, target="/v1/chat", headers=(), **more):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request("POST", target, headers, data, **more)


def environ_of(request_):
    path, _, query = request_.target.partition("?")
    environ = {
        "REQUEST_METHOD": request_.method,
        "RAW_URI": request_.target,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "x",
        "SERVER_PORT": "80",
        "HTTP_HOST": "x",
        "wsgi.input": io.BytesIO(request_.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(request_.body)),
    }
    return environ | {"HTTP_" + n.upper().replace("-", "_"): v for n, v in request_.headers}


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v1/chat", CHAT),
        ("/v1/chat?page=2", {"messages": [{}]}),
        ("/v1/models/big:say", {"a": 1}),
        ("/v1/models/wild-one:say?x=%20y", {}),
    ],
)
def test_what_would_be_sent_is_what_is_sent(tmp_path, target, body):
    """The same request, once rehearsed and once through a real client and a real socket."""
    with recorder() as upstream:
        config = CONFIG.replace("http://main.test", upstream.url)
        config = config.replace("http://spare.test", upstream.url)
        plan = planned(tmp_path, config).plan
        auth = [("authorization", f"Bearer {SECRET}"), ("x-note", "n")]
        request_ = chat(body, target, auth)
        rehearsal = rehearse(plan, request_)
        statuses = []
        services = structs.replace(connect(plan), dice=lambda: 0.0)
        app = build(plan, services)
        list(app(environ_of(request_), lambda status, headers: statuses.append(status)))
        real = upstream.last
    (upstream_request,) = rehearsal.sent_requests
    assert statuses == [f"{rehearsal.status} OK"]
    assert real.target == upstream_request.url.removeprefix(upstream.url)
    assert real.body == upstream_request.body
    own_headers = {"host", "content-length", "x-request-id"}
    assert [pair for pair in real.headers if pair[0].lower() not in own_headers] == [
        pair for pair in upstream_request.headers if pair[0] not in own_headers
    ]


def test_no_socket_is_opened_and_nothing_is_logged(plan, monkeypatch, capsys):
    def refuse(*args, **more):
        raise AssertionError("a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    rehearsal = rehearse(plan, chat(), ALICE, UpstreamAnswers(503))
    assert [upstream_request.upstream for upstream_request in rehearsal.sent_requests] == [
        "main",
        "spare",
        "spare",
    ] * 2
    assert any("failed (5xx)" in line for line in rehearsal.log)
    assert capsys.readouterr() == ("", "")
    log = logging.getLogger("modelway")
    assert log.propagate
    assert log.handlers == []


def test_a_token_needs_no_secret_and_is_where_the_operation_looks_first(plan):
    rehearsal = rehearse(plan, chat(), ALICE)
    assert (rehearsal.status, rehearsal.exchange.caller) == (200, ALICE)
    assert [carrier.kind for carrier in rehearsal.carried] == ["bearer"]
    assert "authorization" in dict(rehearsal.sent_requests[0].headers)
    assert dict(rehearsal.sent_requests[0].headers)["authorization"] == "Bearer sk-main-credential"


def test_without_a_token_it_is_refused_as_in_earnest(plan):
    rehearsal = rehearse(plan, chat())
    assert (rehearsal.status, rehearsal.refused_by, rehearsal.error.code) == (
        401,
        "authenticate",
        "invalid_api_key",
    )
    assert rehearsal.sent_requests == []


def test_the_real_secret_is_taken_as_well(plan):
    assert rehearse(plan, chat(target=f"/v1/chat?key={SECRET}")).status == 200


@pytest.mark.parametrize(
    ("answers", "status", "expected"),
    [
        (UpstreamAnswers(), 200, ["main"]),
        (UpstreamAnswers(each={"main": 503}), 200, ["main", "spare"]),
        (UpstreamAnswers(each={"main": "connect"}), 200, ["main", "spare"]),
        (UpstreamAnswers(each={"main": 400}), 400, ["main"]),
        (UpstreamAnswers("timeout"), 504, ["main"]),
    ],
)
def test_upstreams_answer_with_the_configured_status(plan, answers, status, expected):
    rehearsal = rehearse(plan, chat(), ALICE, answers)
    assert (
        rehearsal.status,
        [upstream_request.upstream for upstream_request in rehearsal.sent_requests],
    ) == (status, expected)


def test_no_rehearsal_tells_of_another(plan):
    """Breakers and budgets are not shared by rehearsals."""
    first = [
        len(rehearse(plan, chat(), ALICE, UpstreamAnswers(503)).sent_requests) for _ in range(8)
    ]
    assert len(set(first)) == 1


def test_counters_stand_at_zero_each_time(plan):
    limited = Caller("alice", limits=planned_limits(plan))
    for _ in range(10):
        rehearsal = rehearse(plan, chat(), limited)
        assert (rehearsal.status, [cost for _, cost in rehearsal.limits]) == (200, [1, 1])


def planned_limits(plan):
    return next(c.limits for c in plan.config.tokens.values() if c.name == "alice")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (request("GET", "v1/items/1", (), b""), "does not begin"),
        (request("GET", "/v1/items/ü", (), b""), "percent-encoded"),
        (request("GET", "/v1/items/ 1", (), b""), "percent-encoded"),
        (request("GET", "/v1/items/1", [("x", "y\n")], b""), "header 'x'"),
        (request("GET", "/v1/items/1", [("x", "a\r\nb: c")], b""), "header 'x'"),
    ],
)
def test_what_could_not_be_sent_is_no_request(plan, request_, words):
    with pytest.raises(ValueError, match=words):
        rehearse(plan, request_)


def test_the_address_counts(plan):
    limited = Caller("limited", ips=("10.0.0.0/8",))
    small = {"model": "small", "messages": [{}]}
    assert rehearse(plan, chat(small, address="10.1.2.3"), limited).status == 200
    assert rehearse(plan, chat(small, address="11.1.2.3"), limited).error.code == (
        "address_not_allowed"
    )


def test_an_internal_error_is_reported(plan, monkeypatch):
    def broken(*args):
        raise RuntimeError("oh no")

    monkeypatch.setattr("engine.upstream.forward.attempt", broken)
    rehearsal = rehearse(plan, chat(), ALICE)
    assert rehearsal.status == 500
    assert "oh no" in "".join(rehearsal.log)


def test_upstreams_at_one_address_are_distinguished(tmp_path):
    config = CONFIG.replace("http://spare.test/v1", "http://main.test/base/v1")
    plan = planned(tmp_path, config).plan
    rehearsal = rehearse(plan, chat(), ALICE, UpstreamAnswers(each={"main": "connect"}))
    assert [upstream_request.upstream for upstream_request in rehearsal.sent_requests] == [
        "main",
        "spare",
    ]
    assert "key=literal-credential" in rehearsal.sent_requests[1].url
