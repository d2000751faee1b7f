"""The usage of a request: estimated, read from its response, and priced."""

from __future__ import annotations

import gzip
import zlib
from decimal import Decimal

import orjson
import pytest

from engine import dialects
from engine.dialects import get
from engine.exchange.exchange import Response
from engine.exchange.member_protocols import Metering
from engine.exchange.push_stream import Pipeline, PushStream
from engine.exchange.request_body import Body
from engine.exchange.request_record import UnusedAnswer
from engine.exchange.stage_services import Services
from engine.metering.estimate import expected_usage
from engine.stages.meter import meter
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.price import price_of
from engine.values.price_list import Prices, TeamPriceList
from engine.values.usage import NO_USAGE, Takes, Usage
from tests.support.exchanges import new_exchange

OUTPUT = dialects.get("openai").request_fields.output
CHAT = Takes(usage_option=True, output=OUTPUT)
EVENTS = [("content-type", "text/event-stream; charset=utf-8")]
JSON = [("content-type", "application/json")]
ANSWER = b'{"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}'
WORD = b'data: {"choices":[{"index":0,"delta":{"content":"four by four"}}]}\n\n'
LAST = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n'
END = b"data: [END]\n\n"


def exchange(model="gpt", **fields):
    text = orjson.dumps({"model": model, **fields})
    return new_exchange(
        body=Body(text), value=orjson.loads(text), model=model, media_type="application/json"
    )


def run(request, following, takes=CHAT, dialect="openai"):
    prices = Prices(
        {"gpt": price_of({"input": 1_000_000, "output": 2_000_000}, "config")},
        {"fast": {"llama": price_of({"input": 2_000_000, "output": 1_000_000}, "groq 2026-07-02")}},
    )
    stage = meter(get(dialect), takes, Services(prices=prices))
    return stage(request, following)


def relay(request, response, **more):
    """The body that the caller gets; the exchange has ended."""
    body = b"".join(run(request, lambda request: response, **more).body)
    request.end()
    return body


def test_usage_can_be_estimated_before_the_request_is_sent():
    estimates = []

    def following(request):
        estimates.append(expected_usage(request))
        return Response(200, JSON, iter([ANSWER]))

    run(exchange(max_tokens=50), following)
    (estimate,) = estimates
    assert (estimate.output, estimate.source) == (50, "estimated")
    assert estimate.input > 0


def test_the_usage_that_the_upstream_reports_is_charged():
    request = exchange()
    assert relay(request, Response(200, JSON, iter([ANSWER[:9], ANSWER[9:]]))) == ANSWER
    record = request.record
    assert (record.usage.input, record.usage.output, record.usage.source) == (7, 3, "upstream")
    assert record.cost == 13 * 10**9
    assert record.bytes_out == len(ANSWER)
    assert not record.stream


def test_a_complete_response_is_charged_at_once():
    request = exchange()
    request.record.response_end = 1.0
    response = run(request, lambda request: Response(200, JSON, ANSWER))
    assert response.body == ANSWER
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)
    assert request.record.cost == 13 * 10**9


class UpstreamUsage:
    """What an upstream reports in a format of its own."""

    def reported(self):
        return Usage(input=4, output=2, source="upstream")


@pytest.mark.parametrize("body", [ANSWER, iter([ANSWER])], ids=["complete", "as it arrives"])
def test_a_translated_answer_is_charged_by_what_its_upstream_reports(body):
    request = exchange()
    request.record.response_end = 1.0

    def following(request):
        request.metering = Metering(reader=UpstreamUsage())
        return Response(200, JSON, body)

    response = run(request, following)
    assert b"".join([response.body] if body is ANSWER else response.body) == ANSWER
    request.end()
    assert request.record.usage == Usage(input=4, output=2, source="upstream")
    assert request.record.cost == 8 * 10**9


def test_a_prompt_cache_that_the_upstream_counts_twice_is_charged_once():
    class CountsTwice:
        def reported(self):
            return Usage(input=40, output=2, cached=15, cache_write=5, source="upstream")

    request = exchange()

    def following(request):
        request.metering = Metering(reader=CountsTwice(), cache_counted_twice=True)
        return Response(200, JSON, iter([ANSWER]))

    assert b"".join(run(request, following).body) == ANSWER
    request.end()
    assert request.record.usage.input == 20


def test_the_price_is_that_of_the_model_that_served():
    request = exchange("other")
    request.record.model = "gpt"
    relay(request, Response(200, JSON, iter([ANSWER])))
    assert request.record.cost == 13 * 10**9


@pytest.mark.parametrize(
    ("model", "cost", "source"),
    [("gpt", 13 * 10**9, "config"), ("other", 17 * 10**9, "groq 2026-07-02"), ("", 0, "")],
)
def test_a_model_without_a_price_in_the_config_has_that_of_its_provider(model, cost, source):
    request = exchange()
    record = request.record
    record.model, record.upstream, record.upstream_model = model, "fast", "llama"
    if not model:
        record.model, record.upstream_model = "other", "unknown"
    relay(request, Response(200, JSON, iter([ANSWER])))
    assert (record.cost, record.price_source) == (cost, source)


@pytest.mark.parametrize(("fields", "hidden"), [({}, True), ({"stream_options": None}, True)])
def test_a_stream_is_asked_for_usage_and_the_usage_event_is_hidden(fields, hidden):
    request = exchange(stream=True, **fields)
    body = relay(request, Response(200, EVENTS, iter([WORD, LAST, END])))
    start, end, new = request.metering.usage_edit
    text = bytes(request.body.buffer)
    pieces_sent = orjson.loads(text[:start] + new + text[end:])
    assert pieces_sent["stream_options"] == {"include_usage": True}
    assert body == WORD + END
    assert request.record.stream
    assert request.record.usage.output == 3


def test_events_sent_by_the_pipeline_are_metered():
    request, pieces_sent = exchange(stream=True), []
    pipeline = Pipeline()
    pipeline.try_send = lambda data: not pieces_sent.append(data)

    def source():
        for events in (WORD, LAST):
            if piece := pipeline.transform(events):
                pipeline.try_send(piece)
        yield END

    response = run(request, lambda request: Response(200, EVENTS, PushStream(source(), pipeline)))
    assert list(response.body) == [END]
    request.end()
    assert pieces_sent == [WORD]
    record = request.record
    assert (record.usage.output, record.events) == (3, 3)
    assert record.bytes_out == len(WORD + LAST + END)


def test_a_caller_who_asks_for_usage_gets_the_event():
    request = exchange(stream=True, stream_options={"include_usage": True})
    assert relay(request, Response(200, EVENTS, iter([WORD, LAST, END]))) == WORD + LAST + END
    assert request.metering.usage_edit is None
    assert request.record.usage.output == 3


@pytest.mark.parametrize(
    ("unchanged", "takes"), [(exchange(stream=True), Takes(output=OUTPUT)), (exchange(), CHAT)]
)
def test_usage_is_not_requested_without_the_option_or_a_stream(unchanged, takes):
    relay(unchanged, Response(200, JSON, iter([ANSWER])), takes=takes)
    assert unchanged.metering.usage_edit is None


def test_the_usage_of_a_broken_stream_is_estimated():
    request = exchange(stream=True)
    body = iter(run(request, lambda request: Response(200, EVENTS, iter([WORD, LAST]))).body)
    assert next(body) == WORD
    request.end()
    assert (request.record.usage.output, request.record.usage.source) == (3, "estimated")
    assert request.record.usage.input > 0
    assert request.record.cost > 0


@pytest.mark.parametrize(("reached", "source"), [(True, "estimated"), (False, "none")])
def test_a_caller_who_leaves_is_charged_for_the_input_that_was_sent(reached, source):
    request = exchange()

    def following(request):
        request.record.reached_upstream = reached
        raise AbortConnection(AbortReason.CALLER_LEFT)

    with pytest.raises(AbortConnection):
        run(request, following)
    usage = request.record.usage
    assert (usage.source, usage.output, usage.input > 0) == (source, 0, reached)
    assert request.record.cost == usage.input * 10**9


@pytest.mark.parametrize("status", [400, 500])
def test_an_error_response_uses_nothing(status):
    request = exchange()
    assert relay(request, Response(status, JSON, iter([ANSWER]))) == ANSWER
    assert (request.record.usage, request.record.cost) == (NO_USAGE, 0)
    assert request.record.bytes_out == len(ANSWER)


def test_a_request_without_a_response_uses_nothing():
    request = exchange()

    def following(request):
        request.record.reached_upstream = True
        raise GatewayError(502, "upstream_error", "no")

    with pytest.raises(GatewayError):
        run(request, following)
    assert (request.record.usage, request.record.cost) == (NO_USAGE, 0)


@pytest.mark.parametrize(
    ("model", "takes", "dialect"),
    [("", CHAT, "openai"), ("gpt", Takes(free=True), "openai"), ("gpt", CHAT, "plain")],
)
def test_requests_that_are_not_metered(model, takes, dialect):
    request = exchange(model)
    relay(request, Response(200, JSON, iter([ANSWER])), takes=takes, dialect=dialect)
    assert (request.record.estimate, request.record.usage) == (NO_USAGE, NO_USAGE)
    assert request.record.bytes_out == len(ANSWER)


def test_a_response_of_the_gateway_is_unchanged():
    response = Response(200, JSON, ANSWER)
    assert run(exchange(), lambda request: response).body is ANSWER


def test_a_complete_stream_is_recorded_as_a_stream():
    request = exchange(stream=True)
    request.record.response_end = 1.0
    run(request, lambda request: Response(200, EVENTS, WORD + LAST + END))
    assert request.record.stream
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)


GZIP = ("content-encoding", "gzip")


@pytest.mark.parametrize("complete", [True, False])
def test_an_encoded_body_is_metered_and_unchanged(complete):
    request, packed = exchange(), gzip.compress(ANSWER)
    request.record.response_end = 1.0 if complete else 0.0
    body = packed if complete else iter([packed[:9], packed[9:]])
    response = run(request, lambda request: Response(200, [*JSON, GZIP], body))
    data = response.body if complete else b"".join(response.body)
    request.end()
    assert data == packed
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)
    assert request.record.usage.source == "upstream"
    assert complete or request.record.bytes_out == len(packed)


def test_an_encoded_stream_is_metered_and_unchanged():
    request, packed = exchange(stream=True), gzip.compress(WORD + LAST + END)
    pieces = [packed[at : at + 10] for at in range(0, len(packed), 10)]
    assert relay(request, Response(200, [*EVENTS, GZIP], iter(pieces))) == packed
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)
    assert request.record.stream


def test_usage_is_read_from_an_event_in_two_encoded_pieces():
    request, compress = exchange(stream=True), zlib.compressobj(wbits=31)
    parts = (WORD + LAST[:30], LAST[30:] + END)
    pieces = [compress.compress(part) + compress.flush(zlib.Z_SYNC_FLUSH) for part in parts]
    pieces.append(compress.flush())
    assert relay(request, Response(200, [*EVENTS, GZIP], iter(pieces))) == b"".join(pieces)
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)
    assert request.record.usage.source == "upstream"


def test_usage_is_read_from_an_encoded_complete_body_with_crlf_line_ends():
    request = exchange(stream=True)
    request.record.response_end = 1.0
    packed = gzip.compress((WORD + LAST + END).replace(b"\n", b"\r\n"))
    run(request, lambda request: Response(200, [*EVENTS, GZIP], packed))
    assert (request.record.usage.input, request.record.usage.output) == (7, 3)
    assert request.record.usage.source == "upstream"


def test_a_body_in_an_unknown_encoding_is_estimated():
    request = exchange()
    relay(request, Response(200, [*JSON, ("content-encoding", "br")], iter([b"\0\1\2"])))
    assert request.record.usage.source == "estimated"


LOST = Usage(input=100, output=10, source="upstream")


def lost(request, attempt=1):
    """An answer of a target with a price of its own that did not reach the caller."""
    request.record.reached_upstream, request.record.attempt_count = True, attempt
    request.record.unused += (UnusedAnswer(attempt, "other", "fast", "llama", LOST),)


def test_an_answer_that_was_not_used_is_charged_at_its_own_price():
    request = exchange()

    def following(request):
        lost(request)
        request.record.attempt_count = 2
        return Response(200, JSON, iter([ANSWER]))

    b"".join(run(request, following).body)
    request.end()
    assert request.record.usage == Usage(input=107, output=13, source="upstream")
    assert request.record.cost == (7 + 2 * 3 + 2 * 100 + 10) * 10**9
    assert request.record.price_source == "config"


@pytest.mark.parametrize("status", [0, 502])
def test_an_answer_that_was_not_used_is_charged_if_there_is_no_other(status):
    request = exchange()

    def following(request):
        lost(request)
        if not status:
            raise GatewayError(502, "upstream_error", "no")
        return Response(status, JSON, b"{}")

    if status:
        run(request, following)
    else:
        with pytest.raises(GatewayError):
            run(request, following)
    request.end()
    assert (request.record.usage, request.record.cost) == (LOST, 210 * 10**9)
    assert request.record.price_source == "groq 2026-07-02"


@pytest.mark.parametrize(("attempts", "more"), [(1, False), (2, True)])
def test_a_caller_who_leaves_is_charged_once_for_each_attempt(attempts, more):
    """The last attempt is charged by its report, or else by the input that was sent."""
    request = exchange()

    def following(request):
        lost(request)
        request.record.attempt_count = attempts
        raise AbortConnection(AbortReason.CALLER_LEFT)

    with pytest.raises(AbortConnection):
        run(request, following)
    assert request.record.usage.output == LOST.output
    assert (request.record.usage.input > LOST.input) is more


OF_TEAMS = Prices(
    {"gpt": price_of({"input": 1_000_000, "output": 2_000_000}, "config")},
    {"fast": {"llama": price_of({"input": 2_000_000}, "groq 2026-07-02")}},
    {
        "lab": TeamPriceList(Decimal(20)),
        "shop": TeamPriceList(models={"gpt": price_of({"input": 1_000}, "team shop")}),
    },
)
BILLION = 10**9


@pytest.mark.parametrize(
    ("team", "cost", "margin", "source"),
    [
        ("lab", 15.6, 2.6, "config +20%"),
        ("shop", 0.007, -12.993, "team shop"),
        ("other", 13, 0, "config"),
        (None, 13, 0, "config"),
    ],
)
def test_a_request_costs_what_the_callers_team_pays(team, cost, margin, source):
    request = exchange()
    request.caller = None if team is None else Caller("ann", team=team)
    request.record.response_end = 1.0
    stage = meter(get("openai"), CHAT, Services(prices=OF_TEAMS))
    stage(request, lambda request: Response(200, JSON, ANSWER))
    record = request.record
    assert (record.cost, record.margin) == (round(cost * BILLION), round(margin * BILLION))
    assert record.price_source == source


def test_a_team_pays_its_prices_for_answers_that_were_not_used_as_well():
    request = exchange()
    request.caller = Caller("ann", team="lab")
    request.record.response_end = 1.0
    request.record.unused = (UnusedAnswer(1, "x", "fast", "llama", Usage(input=5)),)
    stage = meter(get("openai"), CHAT, Services(prices=OF_TEAMS))
    stage(request, lambda request: Response(200, JSON, ANSWER))
    record = request.record
    assert (record.cost, record.margin) == (27_600_000_000, 4_600_000_000)
    assert record.price_source == "config +20%"
