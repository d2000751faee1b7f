"""Responses of routes that cannot be sent."""

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.rehearsing import CONFIG, ENVIRON, write

ROUTE = "routes:\n  - {operation: shop.hidden, respond: %s%s}\n"


def problems(folder, respond, more=""):
    config = CONFIG.replace("routes:\n", ROUTE % (respond, more))
    errors = make_plan(write(folder, config), ENVIRON).findings.errors
    return [(problem.code, problem.message) for problem in errors]


@pytest.mark.parametrize(
    "respond",
    [
        "{status: 204}",
        "{status: 503, headers: {retry-after: 120}}",
        "{status: 302, headers: {Location: /elsewhere}}",
        "{status: 200, body: null}",
        "{status: 200, headers: {x-a: ''}, body: text}",
    ],
)
def test_what_can_be_sent(tmp_path, respond):
    assert problems(tmp_path, respond) == []


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        ("{status: 204, body: x}", "a response 204 has no body"),
        ("{status: 301}", "a redirect 301 needs the header 'location'"),
        ("{status: 200, headers: {A: x, a: y}}", "a header is given twice"),
        ("{status: 200, headers: {content-length: 3}}", "'content-length' is about the connection"),
        ("{status: 200, headers: {X-Request-Id: x}}", "the gateway sends its own 'x-request-id'"),
        ('{status: 200, headers: {x-a: "a\\r\\nb: c"}}', "the value of 'x-a' is not plain text"),
        ("{status: 503, headers: {retry-after: soon}}", "'retry-after' is not a number of seconds"),
    ],
)
def test_what_cannot_be_sent(tmp_path, respond, message):
    ((code, found),) = problems(tmp_path, respond)
    assert (code, found[: len(message)]) == ("MW530", message)


def test_nothing_is_hedged(tmp_path):
    (problem,) = problems(tmp_path, "{status: 200}", ", hedge: {after: 2s}")
    assert problem == ("MW530", "a route with 'respond' asks no target")


def test_a_route_has_one_destination(tmp_path):
    ((code, message),) = problems(tmp_path, "{status: 200}", ", to: [{upstream: main}]")
    assert code == "MW317"
    assert message.endswith("this has to and respond")
