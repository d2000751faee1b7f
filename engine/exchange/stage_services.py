"""The services that stages share, passed in when the application is built."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from engine.exchange.client_secret import ClientSecret
from engine.exchange.exchange import Observer
from engine.exchange.large_request_turns import Turns
from engine.exchange.sign_in import SignIn
from engine.exchange.token_bucket import GuessLimit
from engine.values.admission import AdmissionQueues
from engine.values.bounded_names import NameTables
from engine.values.caller import Caller
from engine.values.client_address import Network
from engine.values.counters import Counters, LimitWarning
from engine.values.machine_state import LocalState, MachineState
from engine.values.metric import Collector
from engine.values.price_list import Prices

log = logging.getLogger("modelway")


Warn = Callable[[LimitWarning], None]
"""Called with each warning that is due, in the request's way: it only queues new ones."""


class Lookup(Protocol):
    """Finds callers by the digest of their token; None for an unknown one."""

    def get(self, digest: str, /) -> Caller | None: ...


class ClientSecretKeys(Protocol):
    """Seals and opens client secrets, and counts them (`client_secret_keys.ClientSecretKeys`)."""

    issued: int
    accepted: int
    expired: int
    invalid: int

    def seal(self, secret: ClientSecret) -> str:
        """The secret as a text. Raises TooLarge."""
        ...

    def open(self, text: str) -> ClientSecret | None:
        """What a text says that a key of the ring has sealed; None for any other text."""
        ...


class SignedTokens(Protocol):
    """Finds callers by a JSON Web Token of another issuer (`engine.callers.jwt.bearers`)."""

    def is_signed(self, secret: str, /) -> bool:
        """Whether a secret has the form of such a token."""
        ...

    def caller(self, secret: str, /) -> tuple[Caller, str]:
        """The caller, and the identity of the token. Raises TokenRefused, KeysUnavailable."""
        ...


class ResponseStore(Protocol):
    """Stored responses by a key (`stores.database.expiring_values`, in the recorder). Times are
    Unix seconds. All raise DatabaseError."""

    def put(self, key: bytes, expires: float, data: bytes, /) -> None:
        """Keep a value, instead of an earlier one of the same key."""
        ...

    def claim(self, key: bytes, expires: float, data: bytes, now: float, /) -> bool:
        """Keep a value that nobody else writes, unless the key has one that has not expired.
        Returns whether it is kept."""
        ...

    def get(self, key: bytes, now: float, /) -> bytes | None:
        """The value of a key, None if there is none that has not expired."""
        ...

    def remove(self, key: bytes, /) -> None:
        """Forget the value of a key."""
        ...

    def size(self, prefix: bytes, now: float, /) -> int:
        """The bytes that values take which have not expired and whose keys begin with a prefix."""
        ...


class BatchStore(Protocol):
    """What is known of batches, and which of their results were counted
    (`stores.database.batches`, in the recorder). All raise DatabaseError."""

    def put(self, key: bytes, data: bytes, /) -> None:
        """Keep what is known of a batch or a file, unless something is."""
        ...

    def get(self, key: bytes, /) -> bytes | None:
        """What is known by a key, None for nothing."""
        ...

    def count(self, rows: Sequence[tuple[bytes, Any]], claim: bytes, /) -> set[bytes]:
        """Write the ledger entries of results whose keys were never counted; returns these."""
        ...


class UsageSums(Protocol):
    """The sums of the ledger (`stores.database.caller_sums`, in the recorder)."""

    def sums(
        self, by: str, token: str, team: str, since: float, until: float, /
    ) -> list[dict[str, Any]] | None:
        """The rows of a token or a team, one for each value of `by`; None if there are too many to
        be summed. Raises DatabaseError."""
        ...

    def requests(self, token: str, after: str, limit: int, /) -> list[dict[str, Any]] | None:
        """The last requests of a token, those after the one of that id; None if the token has none
        of that id. Raises DatabaseError."""
        ...


class RecordedTokens(Protocol):
    """The tokens in the database (`stores.database.tokens.TokenList`, in the recorder)."""

    def first_to_expire(self, limit: int, /) -> Sequence[Caller]:
        """The callers of so many valid tokens, those that expire first. Raises DatabaseError."""
        ...


class TokenValidity(Protocol):
    """Says which tokens are no longer valid (`engine.callers.revocation.TokenValidity`).

    `interval` is the time in seconds between two calls of `revoked`.
    """

    @property
    def interval(self) -> float: ...

    def revoked(self, digests: Collection[str]) -> Collection[str]:
        """Those of the digests whose tokens are revoked or expired."""
        ...


class HealthCheck(Protocol):
    """The state of one store; `error` says why it cannot be reached, "" if it can."""

    error: str

    def refresh(self) -> None:
        """Probe the store, unless the last probe is recent."""


class ModelStates(Protocol):
    """Says which models work (`engine.upstream.models.model_states`)."""

    def __call__(self) -> Mapping[str, str]:
        """`healthy` or `degraded` for the entries of `models` that the worker knows."""
        ...


class WorkerHealth(Protocol):
    """Whether the worker can serve (see `telemetry/health.py`)."""

    model_states: ModelStates

    @property
    def checks(self) -> Mapping[str, HealthCheck]:
        """The stores of the worker by name."""
        ...

    @property
    def details_of(self) -> dict[str, Callable[[], object]]:
        """Functions that return further details for operators, by name."""
        ...

    def stop(self) -> None:
        """Report from now on that the worker is not ready, because it shuts down."""

    def ready(self) -> bool:
        """Probe the stores, and return whether the worker can serve."""
        ...

    def details(self, ready: bool, now: float) -> dict[str, object]:
        """The state of the worker for operators; `now` in Unix seconds."""
        ...


class GuardFailed(Exception):
    """A webhook gave no answer; `str` is a sentence about it, without secrets."""


class GuardCalls(Protocol):
    """Asks the webhooks of guards (`app/routes/guard_calls.py`), each known by its URL or the name
    of an upstream."""

    def post(self, webhook: str, body: bytes, timeout: float) -> bytes | None:
        """The body of the answer to a JSON text, within `timeout` seconds; None where nobody is
        asked, as in a rehearsal. Raises GuardFailed."""
        ...

    def note(self, webhook: str, stage: str, verdict: str) -> None:
        """Count a verdict."""
        ...


class NoGuardCalls:
    """What services without guards have: every question fails."""

    def post(self, webhook: str, body: bytes, timeout: float) -> bytes | None:
        raise GuardFailed("this process asks no guards")

    def note(self, webhook: str, stage: str, verdict: str) -> None:
        pass


class Services(Struct, frozen=True):
    """The services of one worker.

    `tokens` finds callers, and `signed_tokens` those of other issuers' tokens, None if none are
    accepted; `guesses` limits how many unknown tokens a client may try, `names` how many names
    callers can make up. `clock` gives
    Unix seconds, `monotonic` seconds of a clock that nobody sets, `dice` a random number in [0, 1).
    `counters` count against quotas, `warn` is told of those that are about to end;
    `allow_uncounted` lets requests pass while the counters are unavailable. `prices` are in
    `currency`. `proxies` are the networks whose X-Forwarded-For is trusted.

    `sign_in` signs people in to the pages, None where they use tokens only. `client_secrets` seals
    and opens client secrets, None without keys. `guard_calls` asks the
    webhooks of guards.

    `responses` keeps stored responses, `batches` what is known of batches, `usage_sums` reads
    the ledger, and `recorded_tokens` lists the tokens of the database, None without one.

    `token_validity` says which tokens of open requests are no longer valid; None if those requests
    go on.

    `begin` is called when an exchange begins, `observers` when it has ended. `collectors` sample
    the gauges, `page` returns the text of all metrics, None without metrics; `health` says whether
    the worker is ready. `queues` are the admission queues of upstreams, None if none has a limit.
    `machine` is the state shared by the workers of this machine. `turns` are those of large
    requests, in a process that serves nothing else. `background`: services may start
    background tasks. `closing` are the callbacks of `close`.
    """

    tokens: Lookup = field(default_factory=dict[str, Caller])
    signed_tokens: SignedTokens | None = None
    sign_in: SignIn | None = None
    guesses: GuessLimit = field(default_factory=GuessLimit)
    names: NameTables = field(default_factory=NameTables)
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    dice: Callable[[], float] = random.random
    responses: ResponseStore | None = None
    batches: BatchStore | None = None
    usage_sums: UsageSums | None = None
    recorded_tokens: RecordedTokens | None = None
    counters: Counters | None = None
    warn: Warn = field(default=lambda warning: None)
    allow_uncounted: bool = True
    prices: Prices = field(default_factory=Prices)
    currency: str = "USD"
    client_secrets: ClientSecretKeys | None = None
    guard_calls: GuardCalls = field(default_factory=NoGuardCalls)
    token_validity: TokenValidity | None = None
    begin: Observer | None = None
    observers: Sequence[Observer] = ()
    proxies: tuple[Network, ...] = ()
    collectors: list[Collector] = field(default_factory=list)
    page: Callable[[], bytes] | None = None
    health: WorkerHealth | None = None
    queues: AdmissionQueues | None = None
    machine: MachineState = field(default_factory=LocalState)
    turns: Turns | None = None
    background: bool = False
    closing: list[Callable[[], None]] = field(default_factory=list)

    def close(self) -> None:
        """Close the services, last in first out, when the worker ends. Exceptions are logged."""
        for close in reversed(self.closing):
            try:
                close()
            except Exception:
                log.exception("a service of the worker could not be closed")
