"""A credential as the config has it, as a worker applies it, and the request that it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol


class Spool(Protocol):
    """A request body that is not in memory; each call of `chunks` starts at its first byte."""

    def chunks(self) -> Iterator[bytes]: ...


class Request(Protocol):
    """A request as it will be sent (`engine.upstream.client.request.UpstreamRequest`): `path` and
    `query` percent-encoded, names of `headers` in lower case, `host` the Host header."""

    method: str
    host: str
    path: str
    query: str
    headers: list[tuple[str, str]]

    @property
    def body(self) -> bytes | Spool | None: ...


class LiveCredential(Protocol):
    """A credential in one worker."""

    @property
    def secrets(self) -> Sequence[str]:
        """What the upstream sees of it and nobody else may, for redaction."""

    def apply(self, request: Request, timeout: float) -> None:
        """Put it on a complete request, as the last change before it is sent. It waits up to
        `timeout` seconds for a token. Raises CredentialUnavailable."""

    def renew(self) -> bool:
        """The upstream refused it. Returns whether the next `apply` has a new one."""


class Credential(Protocol):
    """A credential of the config: a value that is compared and displayed, without its secrets.

    `kind` is the name of its module; `header` and `parameter` are the names of what it sets, ""
    for none.
    """

    @property
    def kind(self) -> str: ...

    @property
    def header(self) -> str: ...

    @property
    def parameter(self) -> str: ...

    @property
    def label(self) -> str:
        """What it is, for people: `header x-api-key`."""

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets that the config itself holds."""

    @property
    def secrets_go_to(self) -> str:
        """The URL of the server that gets these secrets where it is not the upstream, else ""."""

    def open(self, folder: Path | None, changed: Callable[[], None]) -> LiveCredential:
        """The credential for one worker. `folder` is shared by the workers of the machine, None
        for none; `changed` is called when the `secrets` of the live one have changed."""

    def placeholder(self) -> LiveCredential:
        """The credential for a rehearsal: it fetches nothing."""


OpenCredential = Callable[[Credential, Callable[[], None]], LiveCredential]
"""Makes the credential for one worker, or for a rehearsal; `changed` as in `Credential.open`."""
