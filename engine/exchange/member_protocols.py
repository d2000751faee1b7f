"""Protocols of the objects that higher rooms put into an exchange: dialect, target, trace,
upgrade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from engine.values.errors import GatewayError
from engine.values.json_edit import Edit
from engine.values.usage import Takes, Usage

Headers = list[tuple[str, str]]
"""Header fields in order; the names are in lower case."""


class Dialect(Protocol):
    """The dialect of the caller's API (`engine.dialects.Dialect`)."""

    @property
    def name(self) -> str: ...

    @property
    def request_id_headers(self) -> tuple[str, ...]:
        """The response headers that carry the request id."""

    @property
    def error(self) -> Callable[[GatewayError, str], dict[str, Any]]:
        """A function that makes the error object from an error and the request id."""

    @property
    def prompt_members(self) -> tuple[str, ...]:
        """The members of a JSON body whose texts are the prompt, in the order of the prompt."""

    @property
    def stable_text(self) -> Callable[[str], str]:
        """Leaves out of a text of the prompt what clients change with each request."""

    @property
    def json_name(self) -> Callable[[str], str] | None:
        """Gives the name of a member that requests may spell in another way too, if any have."""

    def gen_ai_operation(self, operation: str, /) -> str:
        """`gen_ai.operation.name` of `spec.operationId`."""

    def gen_ai_provider(self, upstream: str, /) -> str:
        """`gen_ai.provider.name` of an upstream."""


class UsageReader(Protocol):
    """Reads the usage that an upstream reports (`engine.metering.readers.Reader`)."""

    def usage(self) -> Usage | None:
        """The usage that the upstream has reported so far, None for none."""

    def reported(self) -> Usage | None:
        """The usage if the upstream has reported all of it, else None: call `complete`."""

    def complete(self, estimate: Usage) -> Usage:
        """The usage that the upstream reported, or the estimate with the output received so far."""


class Metering(NamedTuple):
    """How the usage of a request is counted.

    `takes` are the fields from which it is estimated; None if nothing is used. `usage_edit` is the
    edit of the body that asks the upstream for a report of usage, if the caller has not. `reader`
    reads what the upstream sends, before that is edited or translated; None if usage is read from
    what the caller gets. `cache_counted_twice`: the upstream's count of the input includes the
    prompt cache, which its format adds to it.
    """

    takes: Takes | None = None
    usage_edit: Edit | None = None
    reader: UsageReader | None = None
    cache_counted_twice: bool = False


UNMETERED = Metering()
"""The usage of a request that uses nothing."""


class UpstreamName(Protocol):
    """A named server (`engine.upstream.targets.target.Upstream`)."""

    @property
    def name(self) -> str: ...


class Target(Protocol):
    """An upstream and the model it serves (`engine.upstream.targets.target.Target`).

    `model` is the model's name at the upstream, "" for the requested name; `configured` is the name
    in the config; `entry` is the name of the entry in `models`; `exact_entry` is the same, but ""
    for a wildcard.
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
    """The trace context of a request (`engine.telemetry.tracing.trace_context.Trace`)."""

    @property
    def trace_id(self) -> str: ...

    def attempt_headers(self, headers: Headers, /) -> Headers:
        """The request headers of the next attempt, with the trace context of the attempt."""


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
        """The connection, and the bytes that were read after the head of the response."""


class Upgrade(Protocol):
    """A request to become a WebSocket (`engine.upstream.websockets.websocket_upgrade.Upgrade`)."""

    @property
    def headers(self) -> Headers:
        """The headers that ask the upstream for a WebSocket."""

    redact: Callable[[bytes], bytes] | None
    """Redacts the upstream's credentials in its messages."""

    opening: bytes
    """The first message to the upstream, b"" for none."""

    def check(self, response: UpgradeResponse, /) -> None:
        """Verify the upstream's response and store it. Raises an upstream failure."""


class Part(Protocol):
    """One field of a multipart body, from `start` to `end`; see `engine.spec.bodies.multipart`."""

    @property
    def name(self) -> str: ...

    @property
    def filename(self) -> str | None: ...

    @property
    def content_type(self) -> str | None: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...
