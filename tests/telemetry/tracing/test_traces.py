"""Traces begin with a request and are told of at its end."""

from engine.telemetry.tracing.spans import Peer
from engine.telemetry.tracing.trace_context import Sampler
from engine.telemetry.tracing.traces import Traces
from tests.support.exchanges import new_exchange

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"


def ended(share, **headers):
    told = []
    traces = Traces(Sampler(share), told.append, {"west": Peer("openai", "west.example", 443)})
    exchange = new_exchange("POST", "/", "", headers)
    traces.begin(exchange)
    traces.ended(exchange)
    return told


def test_a_request_that_is_kept_is_told_of():
    ((span,),) = ended(1.0)
    assert span.name == "POST"


def test_a_request_that_is_not_kept_is_not():
    assert ended(0.0) == []


def test_what_a_caller_keeps_is_kept_and_what_it_does_not_is_not():
    assert len(ended(0.0, HTTP_TRACEPARENT=f"{PARENT}1")) == 1
    assert ended(1.0, HTTP_TRACEPARENT=f"{PARENT}0") == []


def test_the_state_of_others_is_kept():
    ((span,),) = ended(0.0, HTTP_TRACEPARENT=f"{PARENT}1", HTTP_TRACESTATE="a=1")
    assert span.state == "a=1"
