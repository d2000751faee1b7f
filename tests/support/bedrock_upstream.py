"""Amazon Bedrock's runtime on a port of 127.0.0.1: it judges requests by botocore's model of the
service, and answers with the files of `tests/cases/translations/`, in binary streams."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from tests.support import bedrock
from tests.support.amazon_events import KIND, chunk, event, exception
from tests.support.recording import ReceivedRequest, Recorder, answer, recorder
from tests.support.translations import CASES, event_data

_ID = "x-amzn-requestid: aws-1"
BINARY = (f"Content-Type: {KIND}", _ID)
JSON_HEADERS = ("Content-Type: application/json", _ID)
_RESULTS = (b'"toolResult"', b'"tool_result"')


class BedrockUpstream:
    """`case` names the files of the next answers; a request with a tool's result is answered with
    `text`. `exception` ends a stream behind its first `events`, or is the error of an answer in
    one piece, with a `status`. `cut` bytes are missing at the end of a stream. `problems` are the
    violations of the vendor's model in the requests."""

    def __init__(self, upstream: Recorder) -> None:
        self.case = "text"
        self.exception = ""
        self.cut = 0
        self.events, self.status = 2, 429
        self.problems: list[str] = []
        self.upstream = upstream
        upstream.speak = self._answer

    def reset(self) -> None:
        self.case, self.exception, self.cut = "text", "", 0
        self.events, self.status = 2, 429
        self.problems.clear()
        self.upstream.requests.clear()

    @property
    def body(self) -> Any:
        """The JSON of the last request."""
        return json.loads(self.upstream.last.body)

    @property
    def operation(self) -> tuple[str, str]:
        """The model and the method in the path of the last request."""
        return _operation(self.upstream.last)

    def _answer(self, received: ReceivedRequest, sock: socket.socket) -> None:
        model, method = _operation(received)
        invokes = method.startswith("invoke")
        if not invokes:
            streams = method == "converse-stream"
            self.problems += bedrock.problems(model, received.body, stream=streams)
        folder = CASES / ("messages" if invokes else "converse") / "upstream"
        case = "text" if any(each in received.body for each in _RESULTS) else self.case
        if method in ("converse-stream", "invoke-with-response-stream"):
            data = event_data((folder / f"{case}.sse").read_bytes())
            answer(self._frames([json.loads(o) for o in data], invokes), BINARY)(received, sock)
        elif self.exception:
            headers = [*JSON_HEADERS, f"x-amzn-errortype: {self.exception}:"]
            answer(b'{"message":"Wait a little."}', headers, self.status)(received, sock)
        else:
            answer((folder / f"{case}.json").read_bytes(), JSON_HEADERS)(received, sock)

    def _frames(self, events: list[Any], invokes: bool) -> bytes:
        if invokes:
            frames = [chunk(each) for each in events]
        else:
            frames = [event(name, o) for each in events for name, o in each.items()]
        if self.exception:
            frames[self.events :] = [exception(self.exception, "Wait a little.")]
        data = b"".join(frames)
        return data[: len(data) - self.cut]


def _operation(received: ReceivedRequest) -> tuple[str, str]:
    path = received.target.partition("?")[0]
    _, _, model, method = path.rsplit("/", 3)
    return unquote(model), method


@contextmanager
def bedrock_upstream() -> Iterator[BedrockUpstream]:
    with recorder() as upstream:
        yield BedrockUpstream(upstream)
