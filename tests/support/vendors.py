"""An upstream that answers as model vendors do, in the language of chat of each path.

The answers are the files of `tests/cases/translations/<language>/upstream/`: the vendor's exact
bytes, for a request with a stream and for one without.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from engine.translations import languages
from tests.support.recording import ReceivedRequest, Recorder, Speak, answer, recorder
from tests.support.translations import CASES

EVENT_STREAM = ("Content-Type: text/event-stream",)


class Vendors:
    """The upstream of every vendor: `case` names the files of the next answers; an answer to a
    request with a tool's result is always `text`. A `status` of 400 or more is an error in the
    vendor's form, `retry_after` the seconds that it asks to wait."""

    def __init__(self, upstream: Recorder) -> None:
        self.case = "text"
        self.status = 200
        self.retry_after = ""
        self.upstream = upstream
        upstream.speak = self._answer

    def _answer(self, received: ReceivedRequest, sock: socket.socket) -> None:
        path = received.target.partition("?")[0]
        language = next(each for each in languages() if each.speaks(path))
        if self.status >= 400:
            self._fail(language.name)(received, sock)
            return
        streams = b'"stream":true' in received.body or path.endswith(":streamGenerateContent")
        case = "text" if _has_result(received) else self.case
        folder = CASES / language.name / "upstream"
        if streams:
            answer((folder / f"{case}.sse").read_bytes(), EVENT_STREAM)(received, sock)
        else:
            answer((folder / f"{case}.json").read_bytes())(received, sock)

    def _fail(self, language: str) -> Speak:
        document = _error(language, self.status, self.retry_after)
        headers = ["Content-Type: application/json"]
        if self.retry_after and language != "generate_content":  # Google says it in the body
            headers.append(f"Retry-After: {self.retry_after}")
        return answer(json.dumps(document).encode(), headers, self.status)

    @property
    def last(self) -> object:
        """The JSON of the last request that reached a vendor."""
        return json.loads(self.upstream.last.body)


ERROR = "The vendor says no."
"""The message of errors."""

_ANTHROPIC = {400: "invalid_request_error", 429: "rate_limit_error", 503: "overloaded_error"}
_GOOGLE = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
_OPENAI = {429: "rate_limit_exceeded"}


def _error(language: str, status: int, retry_after: str) -> dict[str, object]:
    if language == "messages":
        error: dict[str, object] = {"type": _ANTHROPIC[status], "message": ERROR}
        return {"type": "error", "error": error, "request_id": "req_9"}
    if language == "generate_content":
        retry = {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": f"{retry_after}s",
        }
        error = {"code": status, "message": ERROR, "status": _GOOGLE[status]}
        return {"error": {**error, "details": [retry]} if retry_after else error}
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": ERROR, "type": kind, "param": None, "code": _OPENAI.get(status)}}


def _has_result(received: ReceivedRequest) -> bool:
    marks = (b'"tool_call_id"', b'"tool_result"', b'"functionResponse"', b'"function_call_output"')
    return any(mark in received.body for mark in marks)


@contextmanager
def vendors() -> Iterator[Vendors]:
    """Vendors that listen on a port of 127.0.0.1."""
    with recorder() as upstream:
        yield Vendors(upstream)
