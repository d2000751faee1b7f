"""What a request used: estimated before, read from its answer as that passes, and priced."""

from __future__ import annotations

import gzip
import zlib

import orjson
import pytest

from engine import dialects
from engine.dialects import get
from engine.exchange.body import Body
from engine.exchange.exchange import Response
from engine.exchange.push_stream import Pipeline, PushStream
from engine.exchange.services import Services
from engine.metering.estimate import expected
from engine.stages.meter import meter
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.takes import Takes
from engine.values.usage import NOTHING, price_of
from engine.values.wildcard import ByName
from tests.support.exchanges import new_exchange

OUTPUT = dialects.get("openai").request_fields.output
CHAT = Takes(usage_option=True, output=OUTPUT)
EVENTS = [("content-type", "text/event-stream; charset=utf-8")]
JSON = [("content-type", "application/json")]
ANSWER = b'{"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}'
WORD = b'data: {"choices":[{"index":0,"delta":{"content":"four by four"}}]}\n\n'
LAST = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n'
DONE = b"data: [DONE]\n\n"


def exchange(model="gpt", **said):
    text = orjson.dumps({"model": model, **said})
    return new_exchange(
        body=Body(text), value=orjson.loads(text), model=model, media_type="application/json"
    )


def run(made, following, takes=CHAT, dialect="openai"):
    prices = ByName({"gpt": price_of({"input": 1_000_000, "output": 2_000_000})})
    stage = meter(get(dialect), takes, Services(prices=prices))
    return stage(made, following)


def passed(made, response, **more):
    """What reaches the caller; the exchange has ended then."""
    body = b"".join(run(made, lambda given: response, **more).body)
    made.end()
    return body


def test_an_estimate_is_there_before_the_request_is_sent():
    seen = []

    def following(made):
        seen.append(expected(made))
        return Response(200, JSON, iter([ANSWER]))

    run(exchange(max_tokens=50), following)
    (guess,) = seen
    assert (guess.output, guess.source) == (50, "estimated")
    assert guess.input > 0


def test_what_the_upstream_counted_is_what_counts():
    made = exchange()
    assert passed(made, Response(200, JSON, iter([ANSWER[:9], ANSWER[9:]]))) == ANSWER
    record = made.record
    assert (record.usage.input, record.usage.output, record.usage.source) == (7, 3, "upstream")
    assert record.cost == 13 * 10**9
    assert record.bytes_out == len(ANSWER)
    assert not record.stream


def test_an_upstreams_answer_that_came_whole_is_counted_at_once():
    made = exchange()
    made.record.response_end = 1.0
    response = run(made, lambda given: Response(200, JSON, ANSWER))
    assert response.body == ANSWER
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)
    assert made.record.cost == 13 * 10**9


def test_the_name_that_served_has_the_price():
    made = exchange("other")
    made.record.model = "gpt"
    passed(made, Response(200, JSON, iter([ANSWER])))
    assert made.record.cost == 13 * 10**9


@pytest.mark.parametrize(("said", "hidden"), [({}, True), ({"stream_options": None}, True)])
def test_a_stream_is_asked_for_its_usage_and_the_extra_event_stays_here(said, hidden):
    made = exchange(stream=True, **said)
    body = passed(made, Response(200, EVENTS, iter([WORD, LAST, DONE])))
    ((start, end, new),) = made.edits
    text = bytes(made.body.buffer)
    sent = orjson.loads(text[:start] + new + text[end:])
    assert sent["stream_options"] == {"include_usage": True}
    assert body == WORD + DONE
    assert made.record.stream
    assert made.record.usage.output == 3


def test_what_passes_by_itself_is_metered_all_the_same():
    made, sent = exchange(stream=True), []
    pipeline = Pipeline()
    pipeline.try_send = lambda data: not sent.append(data)

    def source():
        pipeline.send(WORD)
        pipeline.send(LAST)
        yield DONE

    response = run(made, lambda given: Response(200, EVENTS, PushStream(source(), pipeline)))
    assert list(response.body) == [DONE]
    made.end()
    assert sent == [WORD]
    record = made.record
    assert (record.usage.output, record.events) == (3, 3)
    assert record.bytes_out == len(WORD + LAST + DONE)


def test_a_caller_who_asked_gets_the_event():
    made = exchange(stream=True, stream_options={"include_usage": True})
    assert passed(made, Response(200, EVENTS, iter([WORD, LAST, DONE]))) == WORD + LAST + DONE
    assert made.edits == ()
    assert made.record.usage.output == 3


@pytest.mark.parametrize(
    ("made", "takes"), [(exchange(stream=True), Takes(output=OUTPUT)), (exchange(), CHAT)]
)
def test_nothing_is_asked_where_it_is_not_taken_or_nothing_streams(made, takes):
    passed(made, Response(200, JSON, iter([ANSWER])), takes=takes)
    assert made.edits == ()


def test_a_stream_that_breaks_is_estimated_by_what_came():
    made = exchange(stream=True)
    body = iter(run(made, lambda given: Response(200, EVENTS, iter([WORD, LAST]))).body)
    assert next(body) == WORD
    made.end()
    assert (made.record.usage.output, made.record.usage.source) == (3, "estimated")
    assert made.record.usage.input > 0
    assert made.record.cost > 0


@pytest.mark.parametrize(("reached", "source"), [(True, "estimated"), (False, "none")])
def test_a_caller_who_leaves_has_used_what_an_upstream_has_read(reached, source):
    made = exchange()

    def following(given):
        given.record.reached_upstream = reached
        raise AbortConnection(AbortReason.CALLER_LEFT)

    with pytest.raises(AbortConnection):
        run(made, following)
    usage = made.record.usage
    assert (usage.source, usage.output, usage.input > 0) == (source, 0, reached)
    assert made.record.cost == usage.input * 10**9


@pytest.mark.parametrize("status", [400, 500])
def test_an_error_uses_nothing(status):
    made = exchange()
    assert passed(made, Response(status, JSON, iter([ANSWER]))) == ANSWER
    assert (made.record.usage, made.record.cost) == (NOTHING, 0)
    assert made.record.bytes_out == len(ANSWER)


def test_a_failure_uses_nothing():
    made = exchange()

    def following(given):
        given.record.reached_upstream = True
        raise GatewayError(502, "upstream_error", "no")

    with pytest.raises(GatewayError):
        run(made, following)
    assert (made.record.usage, made.record.cost) == (NOTHING, 0)


@pytest.mark.parametrize(
    ("model", "takes", "dialect"),
    [("", CHAT, "openai"), ("gpt", Takes(free=True), "openai"), ("gpt", CHAT, "plain")],
)
def test_what_is_not_metered(model, takes, dialect):
    made = exchange(model)
    passed(made, Response(200, JSON, iter([ANSWER])), takes=takes, dialect=dialect)
    assert (made.record.estimate, made.record.usage) == (NOTHING, NOTHING)
    assert made.record.bytes_out == len(ANSWER)


def test_a_whole_answer_of_the_gateway_is_left_alone():
    response = Response(200, JSON, ANSWER)
    assert run(exchange(), lambda given: response).body is ANSWER


def test_a_stream_that_came_whole_is_one_all_the_same():
    made = exchange(stream=True)
    made.record.response_end = 1.0
    run(made, lambda given: Response(200, EVENTS, WORD + LAST + DONE))
    assert made.record.stream
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)


GZIP = ("content-encoding", "gzip")


@pytest.mark.parametrize("whole", [True, False])
def test_an_encoded_answer_is_counted_and_passes_as_it_came(whole):
    made, packed = exchange(), gzip.compress(ANSWER)
    made.record.response_end = 1.0 if whole else 0.0
    body = packed if whole else iter([packed[:9], packed[9:]])
    response = run(made, lambda given: Response(200, [*JSON, GZIP], body))
    got = response.body if whole else b"".join(response.body)
    made.end()
    assert got == packed
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)
    assert made.record.usage.source == "upstream"
    assert whole or made.record.bytes_out == len(packed)


def test_an_encoded_stream_is_counted_and_passes_as_it_came():
    made, packed = exchange(stream=True), gzip.compress(WORD + LAST + DONE)
    pieces = [packed[at : at + 10] for at in range(0, len(packed), 10)]
    assert passed(made, Response(200, [*EVENTS, GZIP], iter(pieces))) == packed
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)
    assert made.record.stream


def test_usage_is_read_from_an_event_that_encoded_pieces_cut():
    made, compress = exchange(stream=True), zlib.compressobj(wbits=31)
    parts = (WORD + LAST[:30], LAST[30:] + DONE)
    pieces = [compress.compress(part) + compress.flush(zlib.Z_SYNC_FLUSH) for part in parts]
    pieces.append(compress.flush())
    assert passed(made, Response(200, [*EVENTS, GZIP], iter(pieces))) == b"".join(pieces)
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)
    assert made.record.usage.source == "upstream"


def test_usage_is_read_from_an_encoded_complete_body_with_crlf_line_ends():
    made = exchange(stream=True)
    made.record.response_end = 1.0
    packed = gzip.compress((WORD + LAST + DONE).replace(b"\n", b"\r\n"))
    run(made, lambda given: Response(200, [*EVENTS, GZIP], packed))
    assert (made.record.usage.input, made.record.usage.output) == (7, 3)
    assert made.record.usage.source == "upstream"


def test_an_encoding_that_nobody_can_read_is_estimated():
    made = exchange()
    passed(made, Response(200, [*JSON, ("content-encoding", "br")], iter([b"\0\1\2"])))
    assert made.record.usage.source == "estimated"
