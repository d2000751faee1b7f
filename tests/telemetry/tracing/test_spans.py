"""What spans say of a request and its attempts, and what they never say."""

import pytest

from engine.exchange.record import Attempt, Traffic
from engine.telemetry.tracing.spans import Kind, Peer, spans_of
from engine.telemetry.tracing.trace_context import Sampler
from engine.values.caller import Caller
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PEERS = {
    "west": Peer("", "west.example", 443),
    "east": Peer("gemini", "east.example", 8443),
}


def exchange(*tries, method="POST", **known):
    """An exchange that began at 1000.0 (10.0 on the steady clock) and took two seconds."""
    environ = {"HTTP_AUTHORIZATION": "Bearer mw-secret"}
    begun = {"time": 1000.0, "start": 10.0, "duration": 2.0, "status": 200, "outcome": "complete"}
    begun |= {"attempts": list(tries), "attempt_count": len(tries)}
    return new_exchange(
        method,
        "/v1/chat/completions",
        "key=mw-secret",
        environ,
        operation="openai.createChatCompletion",
        model="gpt-4o",
        caller=Caller("shop"),
        record=begun | known,
    )


def told(made, parent=PARENT, attempts=None):
    trace = Sampler(1.0).begin(parent, "a=1")
    count = len(made.record.attempts) if attempts is None else attempts
    for number in range(count):
        trace.sent([])
        began = made.record.attempts[number].start if number < len(made.record.attempts) else 11.0
        *others, (span_id, _) = trace.attempts
        trace.attempts = (*others, (span_id, began))
    return spans_of(made, trace, PEERS)


def tried(upstream="west", model="gpt-4o", failure="", status=200, start=10.1, seconds=0.5):
    return Attempt(f"{upstream}/{model}", upstream, model, failure, status, start, seconds)


def test_a_request_is_a_span_below_its_callers():
    (span,) = told(exchange())
    assert (span.trace_id, span.parent_id, span.from_afar) == (PARENT[3:35], PARENT[36:52], True)
    assert (span.name, span.kind, span.state) == ("openai.createChatCompletion", Kind.SERVER, "a=1")
    assert (span.start, span.end) == (1_000_000_000_000, 1_002_000_000_000)


def test_a_trace_that_begins_here_has_no_parent():
    (span,) = told(exchange(), parent=None)
    assert (span.parent_id, span.from_afar) == ("", False)


def test_a_request_says_what_it_was_and_how_it_ended():
    (span,) = told(exchange(code="", bytes_out=7, cost=5, first_byte=0.25))
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


def test_each_attempt_is_a_span_below_the_request():
    failed = tried("west", failure="5xx", status=503, start=10.1, seconds=0.25)
    served = tried("east", "gemini-pro", start=10.5, seconds=0.5)
    request, first, second = told(exchange(failed, served, upstream="east"))
    assert {first.parent_id, second.parent_id} == {request.span_id}
    assert {first.trace_id, second.trace_id} == {request.trace_id}
    assert (first.kind, first.name) == (Kind.CLIENT, "chat gpt-4o")
    assert (first.start, first.end) == (1_000_100_000_000, 1_000_350_000_000)
    assert (second.name, second.end) == ("chat gemini-pro", request.end)


def test_an_attempt_that_failed_says_why():
    _, first, second = told(
        exchange(tried(failure="5xx", status=503), tried("east", failure="connect", status=0))
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


def test_tokens_stand_on_the_attempt_that_served_and_nowhere_else():
    usage = Usage(input=10, output=5, cached=4, reasoning=2, source="upstream")
    spans = told(exchange(tried(failure="429", status=429), tried(), usage=usage))
    with_tokens = [
        {k: v for k, v in span.attributes.items() if k.startswith("gen_ai.usage")} for span in spans
    ]
    assert with_tokens == [
        {},
        {},
        {
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.usage.cache_read.input_tokens": 4,
            "gen_ai.usage.reasoning.output_tokens": 2,
        },
    ]


def test_a_stream_says_when_its_first_content_came():
    _, span = told(exchange(tried(start=10.5), stream=True, first_byte=0.75))
    assert span.attributes["gen_ai.request.stream"] is True
    assert span.attributes["gen_ai.response.time_to_first_chunk"] == pytest.approx(0.25)


@pytest.mark.parametrize("outcome", ["upstream_cut", "shutdown"])
def test_an_answer_that_broke_is_an_error_of_both(outcome):
    request, attempt = told(exchange(tried(), stream=True, outcome=outcome))
    assert request.attributes["error.type"] == attempt.attributes["error.type"] == outcome
    assert (request.error, attempt.error) == ("", "")


@pytest.mark.parametrize(("status", "is_error"), [(200, False), (404, False), (502, True)])
def test_only_a_5xx_is_the_gateways_error(status, is_error):
    (span,) = told(exchange(status=status, outcome="failed" if status == 502 else "refused"))
    assert (span.error is not None) == is_error
    assert span.attributes.get("error.type") == ("502" if is_error else None)


def test_an_attempt_that_its_caller_left_is_told_of_all_the_same():
    made = exchange(status=499, outcome="caller_left", upstream="west")
    request, attempt = told(made, attempts=1)
    assert (attempt.start, attempt.end) == (1_001_000_000_000, request.end)
    assert attempt.attributes["modelway.upstream"] == "west"
    assert attempt.error is None


def test_a_request_that_found_no_operation_is_known_by_its_method():
    made = exchange(status=404, method="FROBNICATE")
    made.operation = made.model = ""
    (span,) = told(made)
    assert span.name == span.attributes["http.request.method"] == "_OTHER"


def test_a_session_says_what_passed():
    made = exchange(status=101)
    made.traffic = Traffic(code=1000)
    made.traffic.sent.messages = 3
    (span,) = told(made)
    assert span.attributes["modelway.websocket.close_code"] == 1000
    assert span.attributes["modelway.websocket.messages_sent"] == 3


def test_no_secret_and_no_address_with_its_query_is_in_a_span():
    assert "mw-secret" not in repr(told(exchange(tried())))
