"""The kinds whose headers, encodings, lines or frames are odd."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.stall.kind import CHAT, FORM, NOT_LARGE, Kind, chat, dumped, small

_ELEMENTS = '"' + '\\"' * 8_000
HEADERS: dict[str, Mapping[str, str]] = {
    "headers at their limit": {
        "accept": "text/html;q=0.5, " * 900,
        "cookie": "b=a; " * 3_200,
        "accept-language": "en;q=0.1, " * 1_600,
        "connection": "a, " * 5_400,
        "x-forwarded-for": "10.0.0.1, " * 1_600,
        "forwarded": "for=10.0.0.1;by=a, " * 800,
        "openai-beta": _ELEMENTS,
        "if-none-match": _ELEMENTS,
    },
    "headers of traces, ranges and wishes": {
        "traceparent": "00-" + "a" * 15_000,
        "tracestate": "a=b," * 4_000,
        "baggage": "a=b;c=d," * 2_000,
        "range": "bytes=" + "0-1," * 4_000,
        "prefer": 'a="b"; c=d, ' * 1_300,
        "via": "1.1 a, " * 2_000,
        "te": "trailers;q=0.5, " * 1_000,
        "accept-encoding": "gzip;q=0.5, " * 1_300,
    },
    "headers of types and hosts": {
        "content-type": "application/json" + "; a=b" * 3_000,
        "x-forwarded-host": "a.test, " * 2_000,
        "x-forwarded-proto": "https, " * 2_000,
        "accept-charset": "utf-8;q=0.5, " * 1_200,
        "origin": "https://" + "a." * 8_000,
        "user-agent": "agent/1.0 (" * 1_400,
        "x-request-id": "a" * 16_000,
        "idempotency-key": "b" * 16_000,
    },
}
"""The headers of a kind by its name."""


def _session(size: int) -> Callable[[], bytes]:
    return lambda: dumped({"type": "input_audio_buffer.append", "audio": "QUJD" * (size // 4)})


_HEAD = b'content-disposition: form-data; name="a"\r\n'


def _form(part: bytes, size: int) -> Callable[[], bytes]:
    return lambda: (b"--b\r\n" + part) * (size // (len(part) + 5)) + b"--b--\r\n"


WIRE_KINDS = (
    Kind("headers at their limit", "/odd/query", bytes, "odd", method="GET"),
    Kind("headers of traces, ranges and wishes", "/odd/query", bytes, "odd", method="GET"),
    Kind("headers of types and hosts", CHAT, lambda: chat("gpt-4o", "x")),
    Kind(
        "10,000 parts of a form",
        "/odd/form",
        _form(_HEAD + b"\r\n1\r\n", 700_000),
        "odd",
        400,
        FORM,
    ),
    Kind(
        "a part with 1,000 headers",
        "/odd/form",
        _form(_HEAD + b"x: y\r\n" * 15_000 + b"\r\n1\r\n", 120_000),
        "odd",
        400,
        FORM,
    ),
    Kind(
        "a form of dashes",
        "/odd/form",
        lambda: b"--b\r\n" + _HEAD + b"\r\n" + b"\r\n--" * (NOT_LARGE // 4),
        "odd",
        400,
        FORM,
    ),
    Kind(
        "a message in 100,000 frames",
        "/v1/realtime?model=gpt-realtime",
        _session(1_000_000),
        status=101,
        frames=100_000,
    ),
    Kind(
        "a turn in 10,000 frames",
        "/v1/responses",
        lambda: dumped(
            {
                "type": "response.create",
                "model": "gpt-turn",
                "input": "a" * 2_000_000,
                "store": False,
            }
        ),
        status=101,
        frames=10_000,
    ),
    Kind("answer: gzip", CHAT, small("gpt-gzipped")),
    Kind("answer: gzip, edited", CHAT, small("gpt-gzipped"), "judged", 502),
    Kind("answer: gzip, guarded", CHAT, small("gpt-gzipped"), "guarded", 503),
    Kind("answer: deflate, edited", CHAT, small("gpt-deflated"), "judged", 502),
    Kind("answer: brotli", CHAT, small("gpt-brotli")),
    Kind("answer: gzip of events", CHAT, small("gpt-zipped-events", stream=True)),
    Kind("answer: gzip of events, edited", CHAT, small("gpt-zipped-events", stream=True), "judged"),
    Kind(
        "answer: gzip of events, guarded", CHAT, small("gpt-zipped-events", stream=True), "guarded"
    ),
    Kind("answer: lines of 1 MB", CHAT, small("gpt-long-lines", stream=True)),
    Kind("answer: lines of 1 MB, edited", CHAT, small("gpt-long-lines", stream=True), "judged"),
    Kind("answer: lines of 1 MB, guarded", CHAT, small("gpt-long-lines", stream=True), "guarded"),
    Kind("answer: a million heartbeats", CHAT, small("gpt-heartbeats", stream=True)),
    Kind(
        "answer: a million heartbeats, edited", CHAT, small("gpt-heartbeats", stream=True), "judged"
    ),
    Kind(
        "answer: a million heartbeats, guarded",
        CHAT,
        small("gpt-heartbeats", stream=True),
        "guarded",
    ),
    Kind("answer: lines of JSON", CHAT, small("gpt-json-lines", stream=True)),
    Kind("answer: lines of JSON, edited", CHAT, small("gpt-json-lines", stream=True), "judged"),
    Kind("answer: lists in headers", CHAT, small("gpt-header-lists")),
    Kind("answer: parts", CHAT, small("gpt-parts")),
    Kind("a guard that answers with 50 MB", CHAT, lambda: chat("gpt-4o", "talk"), "guarded", 503),
)
