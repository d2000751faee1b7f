"""The record of a request: its outcome, its attempts at upstreams, its usage and times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from engine.exchange.client_secret import ClientSecret
from engine.exchange.opened_ids import Turn
from engine.exchange.outcome import Outcome
from engine.values.usage import NO_USAGE, Usage

CANCELLED = "cancelled"
"""The failure of an attempt that was cancelled because another one of the request won."""


class Attempt(NamedTuple):
    """One attempt at a target, `upstream/model`.

    `model` is the name sent to the upstream. `failure` is the class of the failure, "" for a
    success, CANCELLED if another attempt won; `status` is the upstream's, 0 without a response.
    `start` is on the monotonic clock; `seconds` is the time to the first content or the failure.
    `language` is the language into which the request was translated, "" if it was not.
    """

    target: str
    upstream: str
    model: str
    failure: str
    status: int
    start: float
    seconds: float
    language: str = ""


class McpMessage(Struct, frozen=True):
    """The message of MCP for which a request is made.

    `server` is its name in the config, `method` that of the message ("other" for an unknown one),
    `tool` the name of the tool that is called, `revision` that of the protocol, and `client` the
    program that sent it, as that says itself; each is "" if it is not known. `key` is equal for
    messages of one client with the same id.
    """

    server: str
    method: str = ""
    tool: str = ""
    revision: str = ""
    client: str = ""
    key: object = None


RUNNING = Attempt("", "", "", "", 0, 0.0, 0.0)
"""An attempt that has not ended."""


class UnusedAnswer(NamedTuple):
    """What an upstream reported or sent in an attempt whose answer the caller did not get: it may
    charge for it. `attempt` is the number of the attempt; `model`, `upstream` and `upstream_model`
    are as in the record."""

    attempt: int
    model: str
    upstream: str
    upstream_model: str
    usage: Usage


_OPEN, _COMPLETE = Outcome.OPEN, Outcome.COMPLETE  # looking up a member of an enum is slow


class RequestRecord:
    """The record of an exchange; observers read it when the exchange has ended.

    `time` is in Unix seconds, `start` on the monotonic clock. `code` is the code of the error sent
    to the caller; `limit` names the policy whose limit refused the request (`token` for a limit of
    the token). `uncounted`: the counters were unavailable.

    `model` and `upstream` are those of the last attempt, `upstream_model` is the model's name
    there; `requested_entry` and `served_entry` are the entries of `models` that matched the
    requested model and that served the request. `attempt_count` counts attempts that began,
    `attempts` lists those that ended; `reached_upstream`: a part of the request was sent to an
    upstream.

    Times in seconds: `first_byte` from the start to the first content; `wait_time` spent waiting
    for upstreams and for the request body, of which `queue_time` in the queue of an upstream;
    `duration` in total. `response_end` is the end of the upstream's response on the monotonic
    clock, 0 before. `events` counts the events of a stream; `longest_gap` is the longest time
    between two of them.

    `traffic` is set once the request is a session of a WebSocket, `mcp` for a message of MCP and
    for the operation that it calls. `client_secret` is the secret in whose place the request has no
    token. `turn` is set if the answer may be kept, or continues one that was. `session` is what
    `request_client` has found, None before. `verdicts` are those of guards that found something or
    failed: `request:redact`. `is_mirror`: it is a copy of another request, whose answer nobody
    gets. `is_copy`: it is one of those that copy a file.

    `usage` includes that of the `unused` answers, and `cost` what they cost.
    `estimate` is the estimated usage, if it was needed (`metering.estimate.expected_usage`);
    `cost` is in nano-units of the currency, at a price from `price_source` (see `Price`); `margin`
    is what it exceeds the vendor's cost by, because the caller's team has prices of its own.
    """

    time: float = 0.0
    start: float = 0.0
    status: int = 0
    outcome: Outcome
    code: str = ""
    limit: str = ""
    model: str = ""
    upstream: str = ""
    upstream_model: str = ""
    requested_entry: str = ""
    served_entry: str = ""
    attempt_count: int = 0
    wait_time: float = 0.0
    queue_time: float = 0.0
    duration: float = 0.0
    response_end: float = 0.0
    events: int = 0
    longest_gap: float = 0.0
    uncounted: bool = False
    reached_upstream: bool = False
    stream: bool = False
    first_byte: float | None = None
    bytes_out: int = 0
    estimate: Usage
    usage: Usage
    cost: int = 0
    margin: int = 0
    price_source: str = ""
    unused: tuple[UnusedAnswer, ...] = ()
    traffic: Traffic | None = None
    mcp: McpMessage | None = None
    client_secret: ClientSecret | None = None
    session: str | None = None
    verdicts: tuple[str, ...] = ()
    is_mirror: bool = False
    is_copy: bool = False
    turn: Turn | None = None

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.outcome, self.estimate, self.usage = _OPEN, NO_USAGE, NO_USAGE
        # The other attributes keep their defaults until set.

    @property
    def via(self) -> str:
        """The protocol by which the request came: "mcp", or "" for HTTP; "mirror" for a copy that
        the gateway has made of another request, "copy" for one that copies a file."""
        if self.is_mirror:
            return "mirror"
        if self.is_copy:
            return "copy"
        return "" if self.mcp is None else "mcp"

    @property
    def gateway_time(self) -> float:
        """The gateway's share of the duration: the time that was not spent waiting.

        The time from the first content of a response to its end counts as waiting.
        """
        return max(0.0, self.duration - self.wait_time)

    @property
    def decisive_attempt(self) -> int:
        """The index of the attempt whose result the caller got: the last that was not cancelled; -1
        without attempts."""
        last = len(self.attempts) - 1
        return last - 1 if last > 0 and self.attempts[last].failure == CANCELLED else last

    def add(self, attempt: Attempt) -> None:
        """Add an attempt that has ended. One without a failure has the first content."""
        self.attempts.append(attempt)
        if not attempt.failure:
            self.first_byte = attempt.start + attempt.seconds - self.start

    def amend(self, attempt: Attempt, failure: str, now: float) -> None:
        """Note the failure of an attempt whose response broke off after its first content."""
        failed = attempt._replace(failure=failure, seconds=now - attempt.start)
        self.attempts = [failed if each is attempt else each for each in self.attempts]

    def end(self, status: int, outcome: Outcome, code: str = "") -> None:
        """Set the result of the exchange."""
        self.status, self.outcome, self.code = status, outcome, code

    def close(self, now: float) -> None:
        """Compute the duration, the outcome and the wait time; `now` is on the monotonic clock."""
        self.duration = now - self.start
        if self.outcome is _OPEN:
            self.outcome = Outcome.CALLER_LEFT
        elif self.status >= 400 and self.outcome is _COMPLETE:
            # An error response of an upstream, relayed completely.
            self.outcome = Outcome.of_status(self.status)
        if self.first_byte is not None:
            self.wait_time += (self.response_end or now) - self.start - self.first_byte


@dataclass(slots=True)
class MessageCount:
    """The number of messages in one direction of a session, and the bytes of their payloads."""

    messages: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Traffic:
    """The traffic of a WebSocket session: `sent` to the upstream, `received` from it.

    `usage` is the sum of the usage that the upstream reported, `outcome` the outcome for the
    record, `seconds` the duration, `code` the close code sent to the caller.
    """

    sent: MessageCount = field(default_factory=MessageCount)
    received: MessageCount = field(default_factory=MessageCount)
    usage: Usage = NO_USAGE
    outcome: Outcome = Outcome.COMPLETE
    seconds: float = 0.0
    code: int = 0
