"""Callers of the fleet: each in a thread, one request at a time, so that the load is bounded."""

from __future__ import annotations

import http.client
import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import orjson

from trials.fleet.processes import Kill
from trials.fleet.servers.front import INSTANCE

_TIMEOUT = 60.0
_PATH = "/v1/chat/completions"


@dataclass(slots=True)
class Result:
    """One request. Times are of time.monotonic(); `status` is 0 where no response came."""

    number: int
    token: str
    session: str
    start: float
    end: float = 0.0
    status: int = 0
    complete: bool = False
    text: str = ""
    code: str = ""
    request_id: str = ""
    instance: str = ""
    replica: str = ""
    right: bool = True

    @property
    def finished(self) -> bool:
        """A complete response of a gateway, of any status below 500."""
        return self.complete and 0 < self.status < 500

    @property
    def success(self) -> bool:
        return self.complete and self.status == 200

    @property
    def seconds(self) -> float:
        return self.end - self.start

    def in_flight(self, kill: Kill) -> bool:
        """Whether it was under way while a process died."""
        return self.start <= kill.end and self.end >= kill.start


@dataclass(frozen=True, slots=True)
class Target:
    """Whom callers ask, and what: `words` of text each, as a stream or at once. With `sessions`,
    a request is of one of so many sessions, in turn, which its header `x-session` names."""

    address: str
    port: int
    token: str
    model: str = "chat"
    words: int = 4
    stream: bool = False
    sessions: int = 0


@dataclass
class Load:
    """`callers` at once; each waits `pause` seconds after a response. `results` are those that have
    ended. Use it as a context: callers finish their last request at its end."""

    target: Target
    callers: int
    pause: float = 0.0
    most: int = 1_000_000
    """So many requests at most."""
    results: list[Result] = field(default_factory=list)

    def __enter__(self) -> Load:
        self.start()
        return self

    def start(self) -> None:
        self._stopping = threading.Event()
        self._numbers = itertools.count(1)
        self._threads = [
            threading.Thread(target=self._run, args=(index,), daemon=True)
            for index in range(self.callers)
        ]
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let every caller finish its request, and end."""
        self._stopping.set()
        self.join()

    def join(self) -> None:
        """Wait until all `most` requests have ended."""
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int) -> None:
        """Wait until so many requests have ended."""
        while len(self.results) < count and any(t.is_alive() for t in self._threads):
            time.sleep(0.02)

    def _run(self, index: int) -> None:
        caller = _Caller(self.target)
        self._stopping.wait(self.pause * index / self.callers)
        while not self._stopping.is_set():
            number = next(self._numbers)
            if number > self.most:
                break
            self.results.append(caller.ask(number))
            self._stopping.wait(self.pause)
        caller.close()


class _Caller:
    """One connection, which is opened again after a failure."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection = http.client.HTTPConnection(target.address, target.port, timeout=_TIMEOUT)

    def ask(self, number: int) -> Result:
        target = self._target
        session = f"session-{number % target.sessions}" if target.sessions else ""
        words = " ".join([f"question-{number}", *(f"word-{n}" for n in range(target.words - 1))])
        body = {
            "model": target.model,
            "messages": [{"role": "user", "content": words}],
            "stream": target.stream,
        }
        headers = {
            "authorization": f"Bearer {target.token}",
            "content-type": "application/json",
            "x-session": session,
        }
        result = Result(number, target.token, session, time.monotonic())
        try:
            self._exchange(orjson.dumps(body), headers, result)
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
        result.end = time.monotonic()
        result.right = not result.success or result.text == words
        return result

    def close(self) -> None:
        self._connection.close()

    def _exchange(self, body: bytes, headers: dict[str, str], result: Result) -> None:
        self._connection.request("POST", _PATH, body, headers)
        response = self._connection.getresponse()
        result.status = response.status
        result.request_id = response.getheader("x-request-id", "")
        result.instance = response.getheader(INSTANCE, "")
        data = response.read()
        if result.status != 200:
            result.complete = bool(result.request_id)
            result.code = _code(data)
        elif self._target.stream:
            _read_stream(data, result)
        else:
            value = orjson.loads(data)
            result.text = value["choices"][0]["message"]["content"]
            result.replica = value.get("system_fingerprint", "")
            result.complete = True


def _code(data: bytes) -> str:
    try:
        return str(orjson.loads(data)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def _read_stream(data: bytes, result: Result) -> None:
    """A stream is complete at `[DONE]`; one that ends in an error event is not."""
    for event in data.split(b"\n\n"):
        payload = event.removeprefix(b"data: ")
        if payload == b"[DONE]":
            result.complete = True
        elif payload.startswith(b"{"):
            value: dict[str, Any] = orjson.loads(payload)
            if "error" in value:
                result.code = _code(payload)
            for choice in value.get("choices", ()):
                result.text += choice["delta"].get("content") or ""
            result.replica = value.get("system_fingerprint", result.replica)


def percentile(results: list[Result], share: float) -> float:
    """Seconds within which that share of the passed requests ended."""
    seconds = sorted(result.seconds for result in results if result.success)
    return seconds[min(int(len(seconds) * share), len(seconds) - 1)]


def most_within(results: list[Result], seconds: float) -> int:
    """The most passed requests that were sent and answered in one window of that length: the
    gateways have counted them within it."""
    passed = [result for result in results if result.success]
    return max((_within(passed, result.start, seconds) for result in passed), default=0)


def _within(passed: list[Result], start: float, seconds: float) -> int:
    return sum(start <= r.start and r.end <= start + seconds for r in passed)
