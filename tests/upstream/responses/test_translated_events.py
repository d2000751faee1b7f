"""Events of an upstream, cleaned and translated as they arrive."""

from __future__ import annotations

import json

import gevent
import pytest

from engine import dialects, translations
from engine.process.preemption import Preemption
from engine.relay.sse import NotAnEvent
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.upstream.client.failures import InvalidAnswer
from engine.upstream.responses import translated_events
from engine.upstream.responses.translated_events import TranslatedErrors, TranslatedEvents
from engine.values.event_json import LONG_EVENT, long_data
from engine.values.redaction import Redaction
from tests.support.clock import Clock
from tests.support.loop_turns import loop_turns
from tests.support.preempting import interrupting, until_set
from tests.support.translations import relayed

KEY = "sk-live-0123456789abcdef"
HEARTBEAT = b"event: ping\ndata: {}\n\n"
REQUEST = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"stream":true}'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
PING = b'data: {"choices":[]}\n\n'


class UsageReader:
    """Lists the bytes that the usage is read from."""

    def __init__(self) -> None:
        self.read: list[bytes] = []

    def feed(self, data: bytes) -> None:
        self.read.append(data)


def chunk(text: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % text.encode()


class Stream:
    """The stream of a chat completions upstream for a caller of messages."""

    def __init__(self) -> None:
        translation = translations.translation("messages", "chat_completions")
        exchange = translation.request(REQUEST, RequestLine(id="req1"), "m", LossRules())
        self.usage, self.clock = UsageReader(), Clock(100.0)
        self.events = TranslatedEvents(
            exchange.stream(),
            dialects.get("openai"),
            self.usage,
            TranslatedErrors(dialects.get("anthropic"), "req1", Redaction([]), []),
            HEARTBEAT,
            self.clock,
        )

    def text(self, *pieces: bytes) -> str:
        """The text that the caller gets of these pieces."""
        output = b"".join(map(self.events.feed, pieces))
        data = [json.loads(line[6:]) for line in output.splitlines() if line[:5] == b"data:"]
        return "".join(each.get("delta", {}).get("text", "") for each in data)


def test_an_event_is_translated_when_it_is_complete():
    stream = Stream()
    json_chunk = chunk("Hello")
    assert stream.text(json_chunk[:20]) == ""
    assert stream.text(json_chunk[20:]) == "Hello"


def test_the_answer_is_complete_with_its_end_marker():
    stream = Stream()
    stream.text(chunk("Hello"), FINISH)
    assert not stream.events.ended
    stream.text(DONE)
    assert stream.events.ended


def test_the_usage_is_read_from_the_events_of_the_upstream():
    stream = Stream()
    stream.text(chunk("Hello"))
    assert b"".join(stream.usage.read) == chunk("Hello")


COUNTED = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\n'


def test_what_is_told_does_not_depend_on_how_many_events_arrive_at_once():
    """The beginning of an answer tells what was reported up to it."""
    events = [chunk("a"), FINISH, COUNTED, DONE]
    translation = translations.translation("messages", "chat_completions")
    outputs = []
    for pieces in (events, [b"".join(events)], [events[0] + events[1], events[2] + events[3]]):
        exchange = translation.request(REQUEST, RequestLine(id="req1"), "m", LossRules())
        output, failure = relayed(exchange, pieces)
        assert failure is None
        outputs.append(output)
    assert len(set(outputs)) == 1
    assert b'"input_tokens":0' in outputs[0].partition(b"\n\n")[0]
    assert b'"input_tokens":9' in outputs[0]


def test_a_heartbeat_is_sent_in_place_of_events_that_come_to_nothing():
    stream = Stream()
    stream.events.feed(chunk("Hello"))
    outputs = []
    for seconds in (0, 4, 2, 4, 2):
        stream.clock.advance(seconds)
        outputs.append(stream.events.feed(PING))
    assert outputs == [b"", b"", HEARTBEAT, b"", HEARTBEAT]


def test_an_event_that_comes_to_something_begins_the_silence_anew():
    stream = Stream()
    stream.events.feed(PING)
    stream.clock.advance(6)
    stream.events.feed(chunk("Hello"))
    assert stream.events.feed(PING) == b""


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"data: no JSON\n\n", InvalidAnswer),
        (b"<html>\n\n", InvalidAnswer),
        (b'data: {"error":{"message":"Overloaded.","type":"server_error"}}\n\n', NotAnEvent),
        (b'{"error":{"message":"Overloaded.","type":"server_error"}}\n\n', NotAnEvent),
        (b'event: error\ndata: {"message":"Overloaded.","code":503}\n\n', NotAnEvent),
        (b"event: error\ndata: Overloaded.\n\n", NotAnEvent),
    ],
)
def test_what_cannot_be_translated_ends_the_stream_after_what_preceded_it(data, kind):
    stream = Stream()
    assert stream.text(chunk("Hel") + chunk("lo") + data) == "Hello"
    assert isinstance(stream.events.failure, kind)
    assert (stream.events.feed(chunk("more")), stream.events.finish()) == (b"", b"")


@pytest.mark.parametrize("before", [b"", b": beat\n\n", b"event: ping\n\n"])
@pytest.mark.parametrize("data", [b'{"message":"Slow down.","code":429}', b"Slow down."])
def test_an_event_that_is_named_error_has_its_words(data, before):
    stream = Stream()
    events = chunk("Hi") + before + b"event: error\ndata: %b\n\n" % data + chunk("more")
    assert stream.text(events) == "Hi"
    assert b"Slow down." in stream.events.failure.text


def test_a_stream_that_ends_before_its_answer_is_complete_is_a_failure():
    stream = Stream()
    stream.text(chunk("Hello"))
    stream.events.finish()
    assert isinstance(stream.events.failure, InvalidAnswer)


# Errors, as a caller of another language gets them.


def errors(
    headers: list[tuple[str, str]] | None = None, dialect: str = "anthropic"
) -> TranslatedErrors:
    return TranslatedErrors(
        dialects.get(dialect), "req_1", Redaction([KEY]), [] if headers is None else headers
    )


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
def test_an_error_is_written_in_the_dialect_of_the_caller(dialect: str) -> None:
    document = json.loads(errors(dialect=dialect).document(UpstreamError(429, "Slow down.")))
    assert dialects.get(dialect).is_error(document)
    assert document["error"]["message"] == "Slow down."


def test_an_error_without_words_names_its_status() -> None:
    assert b"The upstream answered 503." in errors().document(UpstreamError(503, ""))


def test_no_credential_is_in_an_error() -> None:
    assert KEY.encode() not in errors().document(UpstreamError(401, f"wrong key {KEY}"))
    assert KEY not in str(errors().failure(BrokenAnswer(f"odd text {KEY}")))


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [("retry-after", "3")]), ([("retry-after", "9")], [("retry-after", "9")])],
)
def test_a_time_to_wait_becomes_a_header_unless_there_is_one(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    headers = list(before)
    errors(headers).document(UpstreamError(429, "", retry_after=2.1))
    assert headers == after


def test_an_error_that_the_upstream_reports_ends_a_stream_with_its_words() -> None:
    failure = errors().failure(UpstreamError(529, "Overloaded."))
    assert isinstance(failure, NotAnEvent)
    assert failure.document["error"]["message"] == "Overloaded."


def test_a_broken_answer_is_an_invalid_one_of_a_response_that_began() -> None:
    failure = errors().failure(BrokenAnswer("it broke off"))
    assert (failure.request_sent, failure.response_started) == (True, True)


def test_the_loop_turns_between_events_that_are_many():
    stream, data = Stream(), chunk("x") * 400
    assert loop_turns(lambda: stream.text(chunk("x"), data)) >= 400
    assert loop_turns(lambda: stream.text(chunk("x"))) <= 1


def test_a_long_event_is_translated_as_others_are():
    text = "x" * LONG_EVENT
    stream = Stream()
    assert stream.text(chunk("a"), chunk("b") + chunk(text) + chunk("c")) == f"ab{text}c"
    stream = Stream()
    stream.text(chunk("a"))
    assert b'"error"' not in stream.events.feed(chunk("b"))
    error = b'event: error\ndata: {"error":{"message":"full"}}\n\n'
    stream.events.feed(chunk(text) + error)
    assert b"full" in stream.events.failure.text


def test_others_go_on_while_a_long_event_is_translated(monkeypatch):
    preemption, others, stream = Preemption(), gevent.event.Event(), Stream()
    monkeypatch.setattr(translated_events, "PREEMPTION", preemption)
    stream.text(chunk("a"))
    turns = []
    data = chunk("x" * LONG_EVENT)

    def splits(event):
        gevent.spawn(others.set)
        turns.append(until_set(others))
        return long_data(event)

    monkeypatch.setattr(translated_events, "long_data", splits)
    with interrupting(preemption):
        gevent.spawn(stream.events.feed, data).get()
    assert turns == [True]
