"""Upstreams without a network: a client with fixed responses that records its requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from engine.config.models import Choice
from engine.config.upstreams import BreakerConfig, HeaderChanges, Retry
from engine.credentials.interface.credential import LiveCredential
from engine.dialects import Dialect
from engine.exchange.disconnect_watcher import DisconnectWatcher
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.dial_order import Address, LookupStatus, Share
from engine.upstream.client.failures import Silence, UpstreamFailure
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.targets.connect import header_changes
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.retry import Budget
from engine.upstream.targets.target import Target, Upstream
from engine.upstream.targets.target_groups import TargetGroup
from engine.values.redaction import Redaction
from tests.support.recording import ANSWER

JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream")]


class FakeResponse:
    """A response whose body arrives in these pieces; a failure among them is raised at each read.

    A float among the pieces is a silence of so many seconds before the next one. `has_length`: it
    is complete as soon as its last piece was read.
    """

    def __init__(
        self,
        status: int = 200,
        headers: Sequence[tuple[str, str]] = JSON,
        body: Sequence[bytes | float | UpstreamFailure] = (ANSWER,),
        length: int | None = None,
        has_length: bool = False,
    ) -> None:
        self._has_length = has_length
        self.status = status
        self.headers = list(headers)
        self.length = length
        self.pieces = list(body)
        self.closed = 0
        self.usage = None

    def header(self, name: str) -> str | None:
        return next((value for field, value in self.headers if field == name.lower()), None)

    @property
    def is_complete(self) -> bool:
        return self._has_length and not self.pieces

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        whole = True
        while self.pieces:
            piece = self.pieces[0]
            if isinstance(piece, float):
                self.pieces[0] = piece - (beat or math.inf)
                if self.pieces[0] >= 0:
                    raise Silence(whole)
                del self.pieces[0]
            elif on_data is not None and len(self.pieces) > 1 and isinstance(piece, bytes):
                on_data(self.pieces.pop(0))  # type: ignore[arg-type]
                whole = False
            else:
                break
        if not self.pieces:
            return b""
        if isinstance(self.pieces[0], UpstreamFailure):
            raise self.pieces[0]
        piece = self.pieces.pop(0)
        assert isinstance(piece, bytes)
        return piece

    def unread(self, data: bytes) -> None:
        if data:
            self.pieces.insert(0, data)

    def close(self) -> None:
        self.closed += 1


class SentRequest(NamedTuple):
    """A request as an upstream gets it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes | None

    def header(self, name: str) -> str | None:
        return next((value for field, value in self.headers if field == name), None)


class Client:
    """Returns these responses in order, then 200; a failure is raised. `totals` lists the total
    timeout of each request; `during` is called for each."""

    proxy_authorization = ""

    def __init__(
        self,
        *responses: FakeResponse | UpstreamFailure,
        base_path: str = "",
        host: str = "upstream.test",
        during: Callable[[], None] = lambda: None,
    ) -> None:
        self.responses = list(responses)
        self.base_path, self.host = base_path, host
        self.during = during
        self.requests: list[SentRequest] = []
        self.totals: list[float | None] = []

    def send(
        self, method: str, target: str, headers: Any, body: Any, total: float | None = None
    ) -> FakeResponse:
        data = body if body is None or isinstance(body, bytes) else b"".join(body.chunks())
        self.requests.append(SentRequest(method, target, list(headers), data))
        self.totals.append(total)
        self.during()
        fake_response = self.responses.pop(0) if self.responses else FakeResponse()
        if isinstance(fake_response, UpstreamFailure):
            raise fake_response
        return fake_response


def upstream(
    client: Any,
    name: str = "u",
    credentials: Sequence[LiveCredential] = (),
    forward_headers: tuple[str, ...] = (),
    dialect: str = "",
    *,
    retry: Retry | None = None,
    breaker: BreakerConfig | None = None,
    heartbeat: float | None = None,
    headers: HeaderChanges | None = None,
    timeouts: Timeouts | None = None,
) -> Upstream:
    """An upstream with the defaults of gateway.yaml, attempted once unless `retry` is given."""
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
        transforms=header_changes(headers or HeaderChanges(), ("upstreams", name)),
        forward_headers=forward_headers,
        url="http://upstream.test",
        redaction=Redaction(secret for credential in credentials for secret in credential.secrets),
    )


def target(client: Any, model: str = "", weight: float = 1, **more: Any) -> Target:
    return upstream(client, **more).target(model, weight)


def group(*targets: Target, **more: Any) -> TargetGroup:
    """A group with a strategy, `weighted` unless a Choice is given."""
    services = more.pop("services", SERVICES)
    return TargetGroup(targets, choose.build(services, Choice(**more)))


SERVICES = Services(clock=lambda: 0.0, dice=lambda: 0.0)
WATCHER = DisconnectWatcher()


def returned_headers(result: AttemptResult, dialect: Dialect) -> list[tuple[str, str]]:
    """The headers of a response that pass to the caller."""
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


class AddressedClient(Client):
    """One for a name whose addresses a test sets, with an own client for each of them."""

    proxy_authorization = ""
    connections = (0, 0)

    def __init__(self, *responses: FakeResponse | UpstreamFailure, **options: Any) -> None:
        super().__init__(*responses, **options)
        self.lookup = LookupStatus()
        self.clients: dict[Address, Client] = {}
        self._changed: Callable[[], None] = lambda: None

    def at(self, address: Address) -> Any:
        client = self.clients[address] = AddressedClient()
        return client

    def follow(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def move(self, addresses: Mapping[Address, Share]) -> None:
        """The addresses, with their shares, are looked up."""
        self.lookup.addresses, self.lookup.shares = tuple(addresses), addresses
        self._changed()

    def close(self) -> None:
        """There is nothing to close."""
