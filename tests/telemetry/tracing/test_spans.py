"""The spans of a request and its attempts have the attributes of the conventions."""

import pytest

from engine import dialects
from engine.exchange.request_record import Attempt, Traffic
from engine.telemetry.tracing.spans import GENAI_2026_10, V1_41, Kind, Peer, Tracer, spans_of
from engine.telemetry.tracing.trace_context import Sampler
from engine.values.caller import Caller
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PEERS = {
    "west": Peer(None, "west.example", 443),
    "east": Peer(dialects.get("gemini"), "east.example", 8443),
}


def exchange(*attempts, method="POST", **record):
    """An exchange that began at 1000.0 (10.0 on the monotonic clock) and took two seconds."""
    environ = {"HTTP_AUTHORIZATION": "Bearer mw-secret"}
    defaults = {
        "time": 1000.0,
        "start": 10.0,
        "duration": 2.0,
        "status": 200,
        "outcome": "complete",
    }
    defaults |= {"attempts": list(attempts), "attempt_count": len(attempts)}
    return new_exchange(
        method,
        "/v1/chat/completions",
        "key=mw-secret",
        environ,
        operation="openai.createChatCompletion",
        model="gpt-4o",
        caller=Caller("shop"),
        record=defaults | record,
    )


def spans(exchange, parent=PARENT, attempts=None, usage_names=V1_41):
    trace = Sampler(1.0).begin(parent, "a=1")
    recorded = exchange.record.attempts
    count = len(recorded) if attempts is None else attempts
    for number in range(count):
        trace.attempt_headers([])
        start = recorded[number].start if number < len(recorded) else 11.0
        *earlier, (span_id, _) = trace.attempts
        trace.attempts = (*earlier, (span_id, start))
    return spans_of(exchange, trace, PEERS, usage_names)


def attempt(upstream="west", model="gpt-4o", failure="", status=200, start=10.1, seconds=0.5):
    return Attempt(f"{upstream}/{model}", upstream, model, failure, status, start, seconds)


def test_a_request_is_a_child_of_its_callers_span():
    (span,) = spans(exchange())
    assert (span.trace_id, span.parent_id, span.remote_parent) == (
        PARENT[3:35],
        PARENT[36:52],
        True,
    )
    assert (span.name, span.kind, span.state) == ("openai.createChatCompletion", Kind.SERVER, "a=1")
    assert (span.start, span.end) == (1_000_000_000_000, 1_002_000_000_000)


def test_a_trace_that_begins_here_has_no_parent():
    (span,) = spans(exchange(), parent=None)
    assert (span.parent_id, span.remote_parent) == ("", False)


def test_a_request_has_its_attributes():
    (span,) = spans(exchange(code="", bytes_out=7, cost=5, first_byte=0.25))
    assert span.error is None
    assert span.attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "http.request.body.size": 0,
        "http.response.body.size": 7,
        "modelway.request_id": "req_1",
        "modelway.outcome": "complete",
        "modelway.attempts": 0,
        "modelway.operation": "openai.createChatCompletion",
        "modelway.token": "shop",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "modelway.cost_nano": 5,
        "modelway.first_byte_seconds": 0.25,
    }


def test_a_cancelled_attempt_is_no_error_and_the_response_is_that_of_the_other():
    cancelled = attempt(failure="cancelled", status=0, start=10.3, seconds=0.2)
    _, answered_span, cancelled_span = spans(
        exchange(attempt(), cancelled, usage=Usage(3, 4, source="upstream"))
    )
    assert (answered_span.error, cancelled_span.error) == (None, None)
    assert answered_span.attributes["gen_ai.usage.input_tokens"] == 3
    assert answered_span.end == 1_002_000_000_000
    assert cancelled_span.attributes["modelway.cancelled"] is True
    assert "gen_ai.usage.input_tokens" not in cancelled_span.attributes
    assert cancelled_span.end == 1_000_500_000_000


def test_the_wait_for_a_place_is_an_attribute():
    (span,) = spans(exchange(queue_time=0.5))
    assert span.attributes["modelway.queue_seconds"] == 0.5


def test_a_translated_attempt_names_its_language():
    translated = attempt()._replace(language="messages")
    _, first, second = spans(exchange(attempt(failure="5xx"), translated))
    assert "modelway.translated" not in first.attributes
    assert second.attributes["modelway.translated"] == "messages"


def test_each_attempt_is_a_child_of_the_request():
    failed = attempt("west", failure="5xx", status=503, start=10.1, seconds=0.25)
    success = attempt("east", "gemini-pro", start=10.5, seconds=0.5)
    request, first, second = spans(exchange(failed, success, upstream="east"))
    assert {first.parent_id, second.parent_id} == {request.span_id}
    assert {first.trace_id, second.trace_id} == {request.trace_id}
    assert (first.kind, first.name) == (Kind.CLIENT, "chat gpt-4o")
    assert (first.start, first.end) == (1_000_100_000_000, 1_000_350_000_000)
    assert (second.name, second.end) == ("chat gemini-pro", request.end)


def test_a_failed_attempt_has_its_error():
    _, first, second = spans(
        exchange(attempt(failure="5xx", status=503), attempt("east", failure="connect", status=0))
    )
    assert (first.error, first.attributes["error.type"]) == ("", "5xx")
    assert first.attributes["http.response.status_code"] == 503
    assert "http.response.status_code" not in second.attributes
    assert second.attributes["http.request.resend_count"] == 1
    providers = [span.attributes["gen_ai.provider.name"] for span in (first, second)]
    assert providers == ["openai", "gcp.gemini"]
    assert (second.attributes["server.address"], second.attributes["server.port"]) == (
        "east.example",
        8443,
    )


def test_newer_names_have_the_modality_of_tokens():
    usage = Usage(20, 5, cached=4, source="upstream", cache_write=3, audio_input=8, image_output=2)
    *_, span = spans(exchange(attempt(), usage=usage), usage_names=GENAI_2026_10)
    assert {k: v for k, v in span.attributes.items() if k.startswith("gen_ai.usage")} == {
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_write.input_tokens": 3,
        "gen_ai.usage.audio.input_tokens": 8,
        "gen_ai.usage.image.output_tokens": 2,
    }


def test_only_the_attempt_that_served_has_tokens():
    usage = Usage(input=10, output=5, cached=4, reasoning=2, source="upstream", cache_write=3)
    every = spans(exchange(attempt(failure="429", status=429), attempt(), usage=usage))
    with_tokens = [
        {k: v for k, v in span.attributes.items() if k.startswith("gen_ai.usage")} for span in every
    ]
    assert with_tokens == [
        {},
        {},
        {
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.usage.cache_read.input_tokens": 4,
            "gen_ai.usage.cache_creation.input_tokens": 3,
            "gen_ai.usage.reasoning.output_tokens": 2,
        },
    ]


def test_a_stream_has_its_time_to_the_first_chunk():
    _, span = spans(exchange(attempt(start=10.5), stream=True, first_byte=0.75))
    assert span.attributes["gen_ai.request.stream"] is True
    assert span.attributes["gen_ai.response.time_to_first_chunk"] == pytest.approx(0.25)


@pytest.mark.parametrize("outcome", ["upstream_cut", "shutdown", "revoked"])
def test_a_broken_response_is_an_error_of_both_spans(outcome):
    request, child = spans(exchange(attempt(), stream=True, outcome=outcome))
    assert request.attributes["error.type"] == child.attributes["error.type"] == outcome
    assert (request.error, child.error) == ("", "")


@pytest.mark.parametrize(("status", "is_error"), [(200, False), (404, False), (502, True)])
def test_only_a_5xx_is_an_error_of_the_request(status, is_error):
    (span,) = spans(exchange(status=status, outcome="failed" if status == 502 else "refused"))
    assert (span.error is not None) == is_error
    assert span.attributes.get("error.type") == ("502" if is_error else None)


def test_an_attempt_whose_caller_left_has_a_span():
    exchange_ = exchange(status=499, outcome="caller_left", upstream="west")
    request, child = spans(exchange_, attempts=1)
    assert (child.start, child.end) == (1_001_000_000_000, request.end)
    assert child.attributes["modelway.upstream"] == "west"
    assert child.error is None


def test_a_request_without_operation_is_named_by_its_method():
    exchange_ = exchange(status=404, method="FROBNICATE")
    exchange_.operation = exchange_.model.name = ""
    (span,) = spans(exchange_)
    assert span.name == span.attributes["http.request.method"] == "_OTHER"


def test_a_websocket_session_has_its_traffic():
    exchange_ = exchange(status=101)
    exchange_.record.traffic = Traffic(code=1000)
    exchange_.record.traffic.sent.messages = 3
    (span,) = spans(exchange_)
    assert span.attributes["modelway.websocket.close_code"] == 1000
    assert span.attributes["modelway.websocket.messages_sent"] == 3


def test_a_span_holds_no_secrets():
    assert "mw-secret" not in repr(spans(exchange(attempt())))


def traced(ratio, **headers):
    """The spans that a tracer adds for a request with these headers."""
    spans = []
    tracer = Tracer(Sampler(ratio), spans.append, PEERS)
    exchange = new_exchange("POST", "/", "", headers)
    tracer.begin(exchange)
    tracer.end(exchange)
    return spans


def test_a_sampled_request_has_spans():
    ((span,),) = traced(1.0)
    assert span.name == "POST"


def test_a_request_that_is_not_sampled_has_none():
    assert traced(0.0) == []


def test_the_caller_decides_whether_its_trace_is_sampled():
    assert len(traced(0.0, HTTP_TRACEPARENT=PARENT)) == 1
    assert traced(1.0, HTTP_TRACEPARENT=f"{PARENT[:-1]}0") == []


def test_the_state_of_other_vendors_is_kept():
    ((span,),) = traced(0.0, HTTP_TRACEPARENT=PARENT, HTTP_TRACESTATE="a=1")
    assert span.state == "a=1"
