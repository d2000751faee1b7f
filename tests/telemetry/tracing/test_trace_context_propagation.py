"""The headers of an attempt carry its trace context to the upstream."""

from engine import dialects
from engine.config.upstreams import HeaderChanges
from engine.telemetry.tracing.trace_context import Sampler
from engine.upstream.attempts.attempt import attempt
from engine.upstream.requests.build_request import build_request, edit_request
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, target

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
HEADERS = {"HTTP_TRACEPARENT": PARENT, "HTTP_TRACESTATE": "a=1"}


def request_to_upstream(trace, **more):
    client = Client()
    target_ = target(client, **more)
    exchange = new_exchange("POST", "/x", "", HEADERS, trace=trace)
    dialect = dialects.get("openai")
    request = build_request(target_, exchange, target_.upstream.headers(()), None)
    edit_request(target_, request, exchange)
    attempt(target_, None, request, exchange, dialect, 9.0)
    return client.requests[0]


def test_an_upstream_gets_the_span_of_the_attempt():
    trace = Sampler(0.0).begin(PARENT, "a=1")
    request = request_to_upstream(trace)
    ((span, _),) = trace.attempts
    names = [name for name, _ in request.headers]
    assert request.header("traceparent") == f"{PARENT[:36]}{span}-01"
    assert request.header("tracestate") == "a=1"
    assert names.count("traceparent") == names.count("tracestate") == 1


def test_without_tracing_the_callers_headers_pass():
    request = request_to_upstream(None)
    assert (request.header("traceparent"), request.header("tracestate")) == (PARENT, "a=1")


def test_trace_headers_can_be_removed():
    changes = HeaderChanges(remove=frozenset({"traceparent", "tracestate"}))
    request = request_to_upstream(Sampler(0.0).begin(PARENT, "a=1"), headers=changes)
    assert request.header("traceparent") is None
    assert request.header("tracestate") is None
