"""Amazon event streams as server-sent events."""

from __future__ import annotations

import json

import pytest

from engine.dialects.interface.streams import StreamRules
from engine.relay.amazon_events import AmazonEvents
from engine.relay.sse import Cleaner, NotAnEvent
from tests.support.amazon_events import chunk, event, exception, message
from tests.support.each import each

DELTA = {"contentBlockIndex": 0, "delta": {"text": "Hi\n\u2028"}}


def events(*data: bytes) -> bytes:
    stream = AmazonEvents()
    text = b"".join(map(stream.feed, data))
    assert stream.failure is None
    return text


def test_an_event_is_an_object_with_its_name() -> None:
    text = events(event("contentBlockDelta", DELTA))
    assert text.startswith(b"data: {")
    assert text.endswith(b"}\n\n")
    assert text.count(b"\n") == 2
    assert json.loads(text[6:]) == {"contentBlockDelta": DELTA}


def test_a_chunk_is_the_event_in_it_under_its_own_name() -> None:
    document = {"type": "content_block_delta", "index": 0}
    text = events(chunk(document))
    assert text == b"event: content_block_delta\ndata: " + json.dumps(document).encode() + b"\n\n"


@each("document", [{"choices": []}, {"type": "a\nb"}, {"type": 3}, [1]])
def test_an_event_without_a_name_in_a_chunk_has_none(document: object) -> None:
    assert events(chunk(document)) == b"data: " + json.dumps(document).encode() + b"\n\n"


def test_line_ends_between_members_end_no_line_of_an_event() -> None:
    headers = [(":message-type", "event"), (":event-type", "metadata")]
    text = events(message(headers, b'{\r\n "usage": {}\n}'))
    assert text.count(b"\n") == 2
    assert json.loads(text[6:]) == {"metadata": {"usage": {}}}


EXCEPTIONS = [
    ("validationException", 400),
    ("modelTimeoutException", 408),
    ("throttlingException", 429),
    ("ThrottlingException", 429),
    ("internalServerException", 500),
    ("modelStreamErrorException", 502),
    ("serviceUnavailableException", 503),
    ("somethingNewException", 500),
]


@each(("name", "status"), EXCEPTIONS)
def test_an_exception_is_the_bare_json_of_an_error(name: str, status: int) -> None:
    text = events(event("messageStart", {"role": "assistant"}), exception(name, "Wait."))
    cleaner = Cleaner(StreamRules())
    assert cleaner.feed(text) == b'data: {"messageStart":{"role":"assistant"}}\n\n'
    assert isinstance(cleaner.failure, NotAnEvent)
    error = {"code": status, "message": "Wait."}
    assert cleaner.failure.document == {"type": "error", "error": error}


def test_an_error_has_its_code_and_message_in_headers() -> None:
    headers = [
        (":message-type", "error"),
        (":error-code", "InternalServerException"),
        (":error-message", "It broke."),
    ]
    document = json.loads(events(message(headers)))
    assert document["error"] == {"code": 500, "message": "It broke."}


def test_an_exception_without_a_message_gets_its_name() -> None:
    headers = [(":message-type", "exception"), (":exception-type", "throttlingException")]
    assert json.loads(events(message(headers)))["error"]["message"] == "throttlingException"


BROKEN = {
    "checksum": event("messageStart", {})[:-1] + b"\0",
    "unknown kind": message([(":message-type", "signal")]),
    "base64": message([(":message-type", "event"), (":event-type", "chunk")], b'{"bytes":"?"}'),
}


@pytest.mark.parametrize("words", BROKEN)
def test_events_before_a_broken_message_are_returned(words: str) -> None:
    stream = AmazonEvents()
    start, rest = event("messageStart", {}), event("messageStop", {})
    assert stream.feed(start + BROKEN[words] + rest) == b'data: {"messageStart":{}}\n\n'
    assert words in str(stream.failure)
    assert stream.feed(rest) == b""
