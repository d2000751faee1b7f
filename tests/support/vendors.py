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
from tests.support.recording import Received, Recorder, answer, recorder
from tests.support.translations import CASES

EVENT_STREAM = ("Content-Type: text/event-stream",)


class Vendors:
    """The upstream of every vendor: `case` names the files of the next answers; an answer to a
    request with a tool's result is always `text`."""

    def __init__(self, upstream: Recorder) -> None:
        self.case = "text"
        self.upstream = upstream
        upstream.speak = self._answer

    def _answer(self, received: Received, sock: socket.socket) -> None:
        path = received.target.partition("?")[0]
        language = next(each for each in languages() if each.speaks(path))
        streams = b'"stream":true' in received.body or path.endswith(":streamGenerateContent")
        case = "text" if _has_result(received) else self.case
        folder = CASES / language.name / "upstream"
        if streams:
            answer((folder / f"{case}.sse").read_bytes(), EVENT_STREAM)(received, sock)
        else:
            answer((folder / f"{case}.json").read_bytes())(received, sock)

    @property
    def last(self) -> object:
        """The JSON of the last request that reached a vendor."""
        return json.loads(self.upstream.last.body)


def _has_result(received: Received) -> bool:
    marks = (b'"tool_call_id"', b'"tool_result"', b'"functionResponse"', b'"function_call_output"')
    return any(mark in received.body for mark in marks)


@contextmanager
def vendors() -> Iterator[Vendors]:
    """Vendors that listen on a port of 127.0.0.1."""
    with recorder() as upstream:
        yield Vendors(upstream)
