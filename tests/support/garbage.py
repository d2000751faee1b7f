"""What each way in which a request can end leaves to the garbage collector, as JSON {way: [what the
caller is told, objects]}.

    python -m tests.support.garbage

A worker with everything on, its callers and its upstream are in one process. What only the
collector can free piles up until it looks, and the longer that is the more memory a worker has.
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import gc  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402
import orjson  # noqa: E402

from benchmarks.counts.house import CONFIG, TOKEN, House  # noqa: E402
from tests.support.peer import CLOSE, RESET, Peer, Step, read_request, reset, serving  # noqa: E402

_HASTY = CONFIG.replace(
    "retry:", "timeouts: {{first_byte: 200ms, idle: 200ms}}\n    retry:"
).replace("failures: 5", "failures: 1000000")
_WAIT = "wait"
_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_SAID = b'data: {"choices":[{"text":"hi"}]}\n\n'
_EVENT = b"%x\r\n%b\r\n" % (len(_SAID), _SAID)
_JSON = b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n" + _JSON

WAYS: dict[str, list[Step]] = {
    "answered": [_OK],
    "streamed": [_STREAM, _EVENT, b"0\r\n\r\n"],
    "refused by the upstream": [b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}"],
    "unanswered": [CLOSE],
    "reset": [RESET],
    "late": [_WAIT],
    "answered in no HTTP": [b"nonsense\r\n\r\n"],
    "cut": [_STREAM, _EVENT, CLOSE],
    "stalled": [_STREAM, _EVENT, _WAIT],
    "left before the answer": [_WAIT],
    "left in the answer": [_STREAM, _EVENT, _WAIT],
    "without a token": [],
    "asked in no HTTP": [],
}
"""What the upstream does; the caller does what the name says."""

_TIMES = 3
_ENDS = 0.6
"""Seconds until the last of it is over: of a caller who left one knows within half a second."""


class _Stage:
    """Where it is played."""

    def __init__(self, folder: Path) -> None:
        self.steps: list[Step] = []
        self.house: Any = None
        self._folder = folder

    def open(self, port: int) -> None:
        self.house = House(self._folder, port, _HASTY)

    def answer(self, sock: Any, peer: Peer) -> None:
        """The upstream's part."""
        while read_request(sock):
            for step in self.steps:
                if step == CLOSE:
                    sock.close()
                    return
                if step == RESET:
                    reset(sock)
                    return
                if step == _WAIT:
                    gevent.sleep(_ENDS)
                    return
                sock.sendall(step)

    def play(self, way: str) -> int:
        """The caller's part; the status of the answer that came, 0 for none."""
        caller = self.house.connect()
        token = "mw-wrong" if way == "without a token" else TOKEN
        message = {"role": "user", "content": "hi"}
        stream = _STREAM in self.steps
        body = orjson.dumps({"model": "gpt-4o", "stream": stream, "messages": [message]})
        caller.sendall(
            b"nonsense\r\n\r\n"
            if way == "asked in no HTTP"
            else b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json"
            b"\r\nAuthorization: Bearer %b\r\nContent-Length: %d\r\n\r\n%b"
            % (token.encode(), len(body), body)
        )
        said = b""
        if way.startswith("left"):
            gevent.sleep(0.05)
        else:
            caller.settimeout(5)
            said = caller.recv(65536)
        caller.close()
        return int(said[9:12] or 0)

    def left(self, way: str) -> tuple[int, int]:
        """What a caller is told, and how many objects are there that nobody has any more."""
        self.steps = WAYS[way]
        gc.collect()
        for _ in range(_TIMES):
            status = self.play(way)
        gevent.sleep(_ENDS)
        return status, gc.collect()


def main() -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        stage = _Stage(Path(folder))
        with serving(stage.answer) as peer:
            stage.open(peer.port)
            gc.disable()
            for way in WAYS:  # what is done for the first time makes things that stay
                stage.left(way)
            print(json.dumps({way: stage.left(way) for way in WAYS}), flush=True)
        stage.house.close()
    os._exit(0)


if __name__ == "__main__":
    main()
