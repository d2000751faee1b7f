"""What an exchange knows of parts that higher rooms define: dialect, target, trace, upgrade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from engine.values.errors import GatewayError
from engine.values.usage import Usage

Headers = list[tuple[str, str]]
"""Header fields in order; the names are in lower case."""


class Dialect(Protocol):
    """How the caller's API speaks (`engine.dialects.Dialect`)."""

    @property
    def name(self) -> str: ...

    @property
    def request_id_headers(self) -> tuple[str, ...]:
        """The response headers that carry the request id."""

    @property
    def error(self) -> Callable[[GatewayError, str], dict[str, Any]]:
        """Make the error object of an error and a request id."""

    @property
    def prompt_members(self) -> tuple[str, ...]:
        """The members of a JSON body whose texts are the prompt, in its order."""

    def gen_ai_operation(self, operation: str, /) -> str:
        """`gen_ai.operation.name` of `spec.operationId`."""

    def gen_ai_provider(self, upstream: str, /) -> str:
        """`gen_ai.provider.name` of an upstream."""


class UsageReader(Protocol):
    """Reads the usage that an upstream reports (`engine.metering.readers.Reader`)."""

    def reported(self) -> Usage | None:
        """The usage, if the upstream has reported all of it; None where `complete` is needed."""

    def complete(self, estimate: Usage) -> Usage:
        """The usage that the upstream reported, or the estimate with the output that arrived."""


class UpstreamName(Protocol):
    """A named server (`engine.upstream.target.Upstream`)."""

    @property
    def name(self) -> str: ...


class Target(Protocol):
    """An upstream and the model it serves (`engine.upstream.target.Target`).

    `model` is the model's name at the upstream, "" if it is the requested one; `configured` is the
    one in the config; `entry` is the entry of `models`; `exact_entry` is the same, or "" for a
    wildcard.
    """

    @property
    def upstream(self) -> UpstreamName: ...

    @property
    def model(self) -> str: ...

    @property
    def configured(self) -> str: ...

    @property
    def entry(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def weight(self) -> float: ...

    @property
    def exact_entry(self) -> str: ...


class Trace(Protocol):
    """The request's place in a trace (`engine.telemetry.tracing.trace_context.Trace`)."""

    @property
    def trace_id(self) -> str: ...

    def attempt_headers(self, headers: Headers, /) -> Headers:
        """The request headers of the next attempt, with the trace context of that attempt."""


class Socket(Protocol):
    """A connected stream socket, plain or TLS."""

    def recv(self, size: int, /) -> bytes: ...
    def send(self, data: memoryview | bytes, /) -> int: ...
    def sendall(self, data: memoryview | bytes, /) -> None: ...
    def settimeout(self, seconds: float | None, /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class UpgradeResponse(Protocol):
    """An upstream's response to a WebSocket upgrade."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]: ...

    def header(self, name: str, /) -> str | None:
        """The first header of a name in lower case."""

    def detach(self) -> tuple[Socket, bytes]:
        """The connection, and what was read of it beyond the response's head."""


class Upgrade(Protocol):
    """A request to become a WebSocket (`engine.upstream.websocket_upgrade.Upgrade`)."""

    @property
    def headers(self) -> Headers:
        """The headers that ask the upstream for a WebSocket."""

    redact: Callable[[bytes], bytes] | None
    """Takes the upstream's credentials out of its messages."""

    def check(self, response: UpgradeResponse, /) -> None:
        """Verify the upstream's response and keep it. Raises an upstream failure."""


class Part(Protocol):
    """One field of a multipart body (`engine.spec.multipart.Part`): `start` to `end` in it."""

    @property
    def name(self) -> str: ...

    @property
    def filename(self) -> str | None: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...
