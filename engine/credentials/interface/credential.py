"""The interfaces of a credential in the config, and of one in a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from engine.values.upstream_request import UpstreamRequest


class LiveCredential(Protocol):
    """A credential in one worker."""

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets in requests to the upstream, for redaction."""

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        """Add the credential to a complete request, as the last change before it is sent. Waits up
        to `timeout` seconds for a token. Raises CredentialUnavailable."""

    def renew(self) -> bool:
        """Called when the upstream refused the credential. Returns whether the next `apply` has a
        new one."""


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
        """A short description for users: `header x-api-key`."""

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets that the config itself holds."""

    @property
    def secrets_go_to(self) -> str:
        """The URL of the server that receives these secrets, "" if it is the upstream."""

    def open(self, folder: Path | None, changed: Callable[[], None]) -> LiveCredential:
        """The credential for one worker. `folder` is shared by the workers of the machine, None
        for none; `changed` is called when the `secrets` of the live one have changed."""

    def placeholder(self) -> LiveCredential:
        """The credential for a rehearsal: it fetches nothing."""


OpenCredential = Callable[[Credential, Callable[[], None]], LiveCredential]
"""Makes the credential for one worker, or for a rehearsal; `changed` as in `Credential.open`."""
