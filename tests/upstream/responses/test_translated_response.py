"""An upstream's response in another language: its body, its errors and how it breaks off."""

from __future__ import annotations

import gc
import gzip
import json
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from engine import dialects
from engine.relay.sse import NotAnEvent
from engine.translations import language
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.upstream.client import failures
from engine.upstream.client.failures import InvalidAnswer, Silence, UpstreamFailure
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.filtered_response import FilteredResponse
from engine.upstream.responses.first_content import ErrorFirst, read_first_content
from engine.upstream.responses.relay_response import relay
from engine.upstream.responses.translated_response import translated_response
from engine.values.errors import AbortConnection
from engine.values.redaction import Redaction
from tests.support.documents import exchange
from tests.support.translations import CASES
from tests.support.upstreams import EVENTS, JSON, WATCHER, Client, FakeResponse, failure, target

KEY = "sk-live-0123456789abcdef"
REQUEST = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"stream":%b}'
GZIP = ("content-encoding", "gzip")
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
ANSWER = (
    b'{"choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":2}}'
)


def event(text: str) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


STREAM = event("Hel") + event("lo") + FINISH + DONE


def response(
    pieces: Sequence[bytes | float | UpstreamFailure],
    headers: Sequence[tuple[str, str]] = EVENTS,
    *,
    status: int = 200,
    stream: bool = True,
    clock: Callable[[], float] = lambda: 0.0,
) -> FilteredResponse:
    """The response of a chat completions upstream for a caller of messages."""
    translation = Translation(language("messages"), language("chat_completions"))
    body = REQUEST % (b"true" if stream else b"false")
    line = RequestLine(id="req1", time=1_700_000_000)
    exchange = translation.request(body, line, "m", LossRules())
    fake: Any = FakeResponse(status, headers, pieces)
    dialect = dialects.get("anthropic")
    return translated_response(fake, exchange, dialect, "req1", Redaction([KEY]), clock)


def pieces_of(from_upstream: FilteredResponse) -> Iterator[bytes]:
    """The pieces that a caller gets. Raises the failure that ends them."""
    yield from iter(from_upstream.read, b"")


def read(from_upstream: FilteredResponse) -> bytes:
    return b"".join(pieces_of(from_upstream))


def text_of(output: bytes) -> str:
    """The text of a stream of messages."""
    documents = [json.loads(line[6:]) for line in output.splitlines() if line[:5] == b"data:"]
    return "".join(d["delta"].get("text", "") for d in documents if "text" in d.get("delta", {}))


def broken(*pieces: Any, headers: Sequence[tuple[str, str]] = EVENTS, **more: Any) -> Any:
    """The failure of a response, and the text that preceded it."""
    from_upstream = response(pieces, headers, **more)
    output: list[bytes] = []
    with pytest.raises(UpstreamFailure) as excinfo:
        output.extend(pieces_of(from_upstream))
    assert not from_upstream.is_complete
    assert b"message_stop" not in b"".join(output)
    return excinfo.value, text_of(b"".join(output))


# Bodies.


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_stream_is_translated_wherever_it_is_split(size: int) -> None:
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    from_upstream = response(pieces)
    assert from_upstream.header("content-type") == "text/event-stream; charset=utf-8"
    output = read(from_upstream)
    assert text_of(output) == "Hello"
    assert output.count(b"event: message_stop") == 1
    assert from_upstream.is_complete


def test_events_go_through_the_pipe_as_they_arrive() -> None:
    from_upstream = response([event("Hel"), event("lo"), FINISH, DONE])
    passed: list[bytes] = []
    rest = b""
    while data := from_upstream.read(passed.append):
        rest += data
    assert len(passed) >= 2
    assert text_of(b"".join(passed) + rest) == "Hello"


def test_an_answer_in_one_piece_becomes_the_stream_that_was_asked_for() -> None:
    output = read(response([ANSWER[:9], ANSWER[9:]], JSON))
    assert text_of(output) == "Hello"
    assert output.count(b"event: message_stop") == 1


@pytest.mark.parametrize(
    ("pieces", "headers"),
    [([ANSWER[:9], 25.0, ANSWER[9:]], JSON), ([STREAM[:9], 25.0, STREAM[9:]], EVENTS)],
    ids=["in one piece", "of a stream"],
)
def test_an_answer_is_read_on_after_a_silence(pieces: Any, headers: Any) -> None:
    from_upstream, silences, output = response(pieces, headers, stream=False), 0, b""
    while not output:
        try:
            output = from_upstream.read(beat=10.0)
        except Silence:
            silences += 1
    assert silences == 2
    assert json.loads(output)["content"] == [{"type": "text", "text": "Hello"}]


def test_a_stream_becomes_the_answer_in_one_piece_that_was_asked_for() -> None:
    from_upstream = response([STREAM], stream=False)
    assert from_upstream.header("content-type") == "application/json"
    assert json.loads(read(from_upstream))["content"] == [{"type": "text", "text": "Hello"}]


def test_a_compressed_answer_is_translated() -> None:
    data = gzip.compress(ANSWER)
    from_upstream = response([data[:20], data[20:]], [*JSON, GZIP])
    assert text_of(read(from_upstream)) == "Hello"
    assert from_upstream.header("content-encoding") is None
    assert from_upstream.usage is not None
    usage = from_upstream.usage.usage()
    assert usage is not None
    assert (usage.input, usage.output) == (3, 2)


def test_what_breaks_off_behind_the_last_event_is_complete() -> None:
    cut = failure(failures.Truncated, response_started=True)
    output = read(response([STREAM, cut]))
    assert output.count(b"event: message_stop") == 1


def test_pings_of_the_upstream_keep_the_callers_stream_alive() -> None:
    comment = b": ping\n\n"
    nothing = b'data: {"choices":[]}\n\n'
    pieces = [event("Hel"), *[comment, nothing] * 9, event("lo"), FINISH + DONE]
    output = read(response(pieces, clock=partial(next, count(0.0, 2.0))))
    assert text_of(output) == "Hello"
    assert 2 <= output.count(b"event: ping") <= 9
    assert output.index(b'"Hel"') < output.index(b"event: ping")
    assert output.rindex(b"event: ping") < output.index(b'"lo"')
    assert b"event: ping" not in read(response(pieces, clock=lambda: 0.0))


def test_any_success_has_the_status_200() -> None:
    assert response([STREAM], status=206).status == 200


# Answers that are none.


def test_a_page_is_named_as_what_it_is() -> None:
    error, _ = broken(b"\n<html>busy</html>", headers=[("content-type", "text/html")])
    assert "is HTML or XML, not JSON" in str(error)


@pytest.mark.parametrize(
    ("pieces", "headers"),
    [
        ([b"<html>busy</html>"], [("content-type", "text/html")]),
        ([b'{"type":"message","content":[]}'], JSON),
        ([b""], JSON),
        ([b'event: message_start\ndata: {"type":"message_start"}\n\n'], EVENTS),
        ([b"<html>busy</html>\n\n"], EVENTS),
        ([FINISH, b'data: {"choices":'], EVENTS),
        ([STREAM], [*EVENTS, ("content-encoding", "br")]),
        ([ANSWER], [*JSON, ("content-encoding", "zstd")]),
        ([b"no gzip"], [*JSON, GZIP]),
        ([gzip.compress(ANSWER)[:40]], [*JSON, GZIP]),
    ],
    ids=[
        *("HTML", "another language", "nothing", "events of another language", "HTML as events"),
        *("half an event", "br", "zstd", "no gzip", "half a gzip"),
    ],
)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_another_format_is_an_invalid_answer(
    pieces: list[bytes], headers: list[tuple[str, str]], stream: bool
) -> None:
    error, _ = broken(*pieces, headers=headers, stream=stream)
    assert isinstance(error, InvalidAnswer)
    assert error.request_sent
    assert error.response_started


def test_a_stream_without_its_end_breaks_off_behind_what_it_had() -> None:
    error, text = broken(event("Hel") + event("lo"))
    assert isinstance(error, InvalidAnswer)
    assert text == "Hello"
    assert error.words == "the upstream's answer ended without a finish reason"


def test_a_cut_stream_keeps_its_failure() -> None:
    cut = failure(failures.Truncated, response_started=True)
    assert broken(event("Hel"), cut) == (cut, "Hel")


def test_what_precedes_an_error_in_one_read_is_sent_first() -> None:
    spoken = b'data: {"choices":[{"delta":{"content":"lo","audio":{"data":"AA"}}}]}\n\n'
    error, text = broken(event("Hel") + spoken + event("never"))
    assert text == "Hello"
    assert "has audio" in error.words


def test_a_failure_does_not_repeat_our_credential() -> None:
    function = {"name": KEY, "arguments": "no JSON"}
    delta = {"tool_calls": [{"id": "c", "function": function}]}
    choices = [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]
    data = b"data: " + json.dumps({"choices": choices}).encode() + b"\n\n"
    error, _ = broken(data, DONE, stream=False)
    assert "calls [redacted] with arguments" in error.words
    assert KEY not in str(error)


# Errors.


def test_an_error_inside_a_stream_is_reported_behind_what_preceded_it() -> None:
    error = b'data: {"error":{"message":"busy %b","type":"rate_limit_error"}}\n\n' % KEY.encode()
    output: list[bytes] = []
    with pytest.raises(NotAnEvent) as excinfo:
        output.extend(pieces_of(response([event("Hel") + error + event("never")])))
    assert text_of(b"".join(output)) == "Hel"
    assert excinfo.value.document["error"]["message"] == "busy [redacted]"
    assert excinfo.value.document["error"]["type"] == "rate_limit_error"


@pytest.mark.parametrize(
    ("pieces", "headers", "message"),
    [
        ([b'{"error":{"message":"slow ', b'down"}}'], JSON, "slow down"),
        ([gzip.compress(b'{"error":{"message":"slow down"}}')], [*JSON, GZIP], "slow down"),
        ([b"x" * 65_537], JSON, "The upstream answered 429."),
        ([b"<html>"], [("content-type", "text/html")], "The upstream answered 429."),
        (
            [b'{"error":{', failure(failures.Truncated, response_started=True)],
            JSON,
            "The upstream answered 429.",
        ),
    ],
    ids=["JSON", "gzip", "too long", "HTML", "cut"],
)
def test_an_error_keeps_its_status_whatever_its_body_is(
    pieces: list[Any], headers: list[tuple[str, str]], message: str
) -> None:
    headers = [*headers, ("retry-after", "7"), ("content-length", "9")]
    from_upstream = response(pieces, headers, status=429)
    assert from_upstream.status == 429
    assert from_upstream.header("retry-after") == "7"
    assert from_upstream.header("content-length") is None
    error = json.loads(read(from_upstream))
    assert (error["error"]["type"], error["request_id"]) == ("rate_limit_error", "req1")
    assert error["error"]["message"] == message


def test_a_redirect_is_no_answer() -> None:
    from_upstream = response([b"<html>moved</html>"], status=302)
    assert (from_upstream.status, read(from_upstream)) == (302, b"")
    assert from_upstream.header("content-type") == "application/json"  # no stream has begun


NAMELESS = b'data: {"choices":[{"delta":{"tool_calls":[{"id":"c"}]}}]}\n\n'


@pytest.mark.parametrize(
    "pieces",
    [
        [STREAM],
        [event("Hel"), b'data: {"error":{"message":"busy"}}\n\n'],
        [event("Hel"), NAMELESS],
        [event("Hel")],
        [event("Hel"), failure(failures.Truncated, response_started=True)],
    ],
    ids=["whole", "error", "broken", "without its end", "cut"],
)
def test_a_relayed_stream_leaves_nothing_to_the_garbage_collector(pieces: list[Any]) -> None:
    dialect, from_upstream = dialects.get("anthropic"), response(pieces)
    content = read_first_content(from_upstream, dialect, is_translated=True)
    result = AttemptResult(target(Client()), response=from_upstream, content=content)
    relayed = relay(result, [], exchange(), dialect, WATCHER)
    response_ref = weakref.ref(from_upstream)
    del from_upstream, content, result
    gc.disable()
    try:
        with suppress(AbortConnection):
            b"".join(relayed.body)  # type: ignore[arg-type]
        del relayed
        assert response_ref() is None
    finally:
        gc.enable()


def test_the_upstreams_connection_is_released_with_the_end() -> None:
    fake: Any = FakeResponse(200, EVENTS, [STREAM])
    translation = Translation(language("messages"), language("chat_completions"))
    exchange = translation.request(REQUEST % b"true", RequestLine(), "m", LossRules())
    from_upstream = translated_response(
        fake, exchange, dialects.get("anthropic"), "r", Redaction(())
    )
    read(from_upstream)
    assert fake.closed >= 1


# A stream that is wanted as a JSON array.


def array(*pieces: Any) -> FilteredResponse:
    """The response of a chat completions upstream for a caller of generate content."""
    translation = Translation(language("generate_content"), language("chat_completions"))
    line = RequestLine(model="m", stream=True, id="req1")
    exchange = translation.request(REQUESTS["generate_content"], line, "m", LossRules())
    fake: Any = FakeResponse(200, EVENTS, pieces)
    return translated_response(fake, exchange, dialects.get("gemini"), "req1", Redaction([KEY]))


def test_an_array_is_written_item_by_item() -> None:
    from_upstream = array(event("Hel"), event("lo"), FINISH + DONE)
    assert from_upstream.header("content-type") == "application/json"
    pieces = list(iter(from_upstream.read, b""))
    assert [piece[:2] for piece in pieces] == [b"[{", b",\n", b",\n"]
    items = json.loads(b"".join(pieces))
    assert [item["candidates"][0]["content"]["parts"] for item in items[:2]] == [
        [{"text": "Hel"}],
        [{"text": "lo"}],
    ]


@pytest.mark.parametrize("pieces", [(1, 1), (2,)], ids=["apart", "together"])
def test_an_error_is_the_last_item_of_an_array_that_breaks_off(pieces: tuple[int, ...]) -> None:
    error = b'data: {"error":{"message":"busy","code":503}}\n\n'
    parts = [event("Hel"), error]
    from_upstream = array(*[b"".join(parts.pop(0) for _ in range(count)) for count in pieces])
    output: list[bytes] = []
    with pytest.raises(InvalidAnswer):
        output.extend(iter(from_upstream.read, b""))
    text, last = json.loads(b"".join(output) + b"]")
    assert text["candidates"][0]["content"]["parts"] == [{"text": "Hel"}]
    assert last["error"]["message"] == "busy"


def test_an_error_in_place_of_an_array_is_a_failed_attempt() -> None:
    from_upstream = array(b'data: {"error":{"message":"busy","code":503}}\n\n')
    with pytest.raises(ErrorFirst) as excinfo:
        read_first_content(from_upstream, dialects.get("gemini"), is_translated=True)
    assert excinfo.value.document["error"]["message"] == "busy"


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_in_place_of_an_answer_is_a_failed_attempt(stream: bool) -> None:
    answer = b'{"error":{"message":"busy %b","type":"rate_limit_error"}}' % KEY.encode()
    from_upstream = response([answer], JSON, stream=stream)
    with pytest.raises(ErrorFirst) as excinfo:
        read_first_content(from_upstream, dialects.get("anthropic"), is_translated=True)
    assert excinfo.value.document["error"]["message"] == "busy [redacted]"


# Pieces of every vendor's streams.

REQUESTS = {
    "chat_completions": b'{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true}',
    "responses": b'{"model":"m","input":"Hi","store":false,"stream":true}',
    "messages": REQUEST % b"true",
    "generate_content": b'{"contents":[{"parts":[{"text":"Hi"}]}]}',
}
LINE = RequestLine(id="req1", stream=True, query="alt=sse", time=1_700_000_000)
CROSSINGS = [
    pytest.param(caller, target, file, id=f"{caller}-{target}-{file.stem}")
    for caller in REQUESTS
    for target in REQUESTS
    if caller != target
    for file in sorted((CASES / target / "upstream").glob("*.sse"))
]


def translated(caller: str, target: str, pieces: Sequence[bytes]) -> bytes:
    """What a caller gets of a target's stream that comes in these pieces, its error included."""
    translation = Translation(language(caller), language(target))
    exchange = translation.request(REQUESTS[caller], LINE, "m", LossRules())
    fake: Any = FakeResponse(200, EVENTS, pieces)
    dialect = dialects.get(language(caller).dialect)
    from_upstream = translated_response(
        fake, exchange, dialect, "req1", Redaction([KEY]), lambda: 0.0
    )
    output: list[bytes] = []
    try:
        output.extend(pieces_of(from_upstream))
    except NotAnEvent as error:
        output.append(error.text)
    return b"".join(output)


@pytest.mark.parametrize(("caller", "target", "file"), CROSSINGS)
def test_events_may_be_split_anywhere(caller: str, target: str, file: Path) -> None:
    stream = file.read_bytes()
    whole = translated(caller, target, [stream])
    assert len(whole) > 100
    for text in (stream, stream.replace(b"\n", b"\r\n")):
        for size in (1, 2, 3, 10):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            assert translated(caller, target, pieces) == whole
