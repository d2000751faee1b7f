"""Upstreams without a network: a client that notes what it is sent and answers as it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engine.config.upstreams import BreakerConfig, Credential, HeaderChanges, Retry
from engine.dialects import Dialect
from engine.exchange.services import Services
from engine.upstream.attempt import AttemptResult
from engine.upstream.client.client import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.credentials import Credentials
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.retry import Budget
from engine.upstream.target import Target, Upstream
from engine.values.redaction import Redaction

JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream")]


class FakeResponse:
    """An answer whose body comes in the given pieces; a failure among them is raised for ever.

    A float among the pieces is a silence of so many seconds before the next one. `ends`: it is
    known to be over when its last piece was read.
    """

    def __init__(
        self,
        status: int = 200,
        headers: Sequence[tuple[str, str]] = JSON,
        body: Sequence[bytes | float | UpstreamFailure] = (b"{}",),
        length: int | None = None,
        ends: bool = False,
    ) -> None:
        self._ends = ends
        self.status = status
        self.headers = list(headers)
        self.length = length
        self.pieces = list(body)
        self.closed = 0

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name.lower()), None)

    def silent(self, seconds: float) -> bool:
        if not self.pieces or not isinstance(self.pieces[0], float):
            return False
        self.pieces[0] -= seconds
        if self.pieces[0] >= 0:
            return True
        del self.pieces[0]
        return False

    @property
    def is_complete(self) -> bool:
        return self._ends and not self.pieces

    def read(self, passing: Callable[[bytes], None] | None = None) -> bytes:
        while passing is not None and len(self.pieces) > 1 and isinstance(self.pieces[0], bytes):
            passing(self.pieces.pop(0))  # type: ignore[arg-type]
        while self.pieces and isinstance(self.pieces[0], float):
            del self.pieces[0]
        if not self.pieces:
            return b""
        if isinstance(self.pieces[0], UpstreamFailure):
            raise self.pieces[0]
        piece = self.pieces.pop(0)
        assert isinstance(piece, bytes)
        return piece

    def close(self) -> None:
        self.closed += 1


class Sent(NamedTuple):
    """One request as an upstream got it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes | None

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


class Client:
    """Answers what it is told, in order, then 200; a failure is raised. `left` notes the seconds
    that each request was given, `during` is called with each."""

    def __init__(
        self,
        *answers: FakeResponse | UpstreamFailure,
        base_path: str = "",
        host: str = "upstream.test",
        during: Callable[[], None] = lambda: None,
    ) -> None:
        self.answers = list(answers)
        self.base_path, self.host = base_path, host
        self.during = during
        self.sent: list[Sent] = []
        self.left: list[float | None] = []

    def send(
        self, method: str, target: str, headers: Any, body: Any, total: float | None = None
    ) -> FakeResponse:
        whole = body if body is None or isinstance(body, bytes) else b"".join(body.chunks())
        self.sent.append(Sent(method, target, list(headers), whole))
        self.left.append(total)
        self.during()
        fake_response = self.answers.pop(0) if self.answers else FakeResponse()
        if isinstance(fake_response, UpstreamFailure):
            raise fake_response
        return fake_response


def upstream(
    client: Any,
    name: str = "u",
    credentials: Sequence[Credential] = (),
    forward_headers: tuple[str, ...] = (),
    dialect: str = "",
    *,
    retry: Retry | None = None,
    breaker: BreakerConfig | None = None,
    heartbeat: float | None = None,
    headers: HeaderChanges | None = None,
    timeouts: Timeouts | None = None,
) -> Upstream:
    """An upstream with the defaults of gateway.yaml, but asked once unless `retry` is given."""
    retry = retry or Retry(attempts=1)
    return Upstream(
        name=name,
        dialect=dialect,
        client=client,
        timeouts=timeouts or Timeouts(),
        credentials=Credentials(credentials),
        retry=retry,
        budget=Budget(retry.budget),
        breaker=breaker or BreakerConfig(),
        heartbeat=heartbeat,
        changes=headers or HeaderChanges(),
        forward_headers=forward_headers,
        url="http://upstream.test",
        redaction=Redaction(credential.value for credential in credentials),
    )


def target(client: Any, model: str = "", weight: float = 1, **more: Any) -> Target:
    return upstream(client, **more).target(model, weight)


SERVICES = Services(clock=lambda: 0.0, dice=lambda: 0.0)
WATCHER = DisconnectWatcher()


def returned_headers(result: AttemptResult, dialect: Dialect) -> list[tuple[str, str]]:
    """The headers of an answer that pass to the caller."""
    assert result.response is not None
    return result.target.upstream.response_headers(dialect).pick(
        result.response.headers, result.path
    )


def failure(
    kind: type[UpstreamFailure], *, request_sent: bool = False, response_started: bool = False
) -> Any:
    error = kind()
    error.request_sent, error.response_started = request_sent, response_started
    return error
