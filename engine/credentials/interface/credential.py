"""The interfaces of credentials: a kind (each file of `credentials/` defines `CREDENTIAL`, a
`CredentialKind`), the context in which it reads its section of the config, a credential of the
config, and one in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from os.path import isfile
from pathlib import Path as FilePath
from typing import Protocol

from msgspec import Struct, field

from engine.values.trees import Json, Section
from engine.values.upstream_request import UpstreamRequest

Path = tuple[str | int, ...]
"""The keys of a value, below the credential."""


class Report(Protocol):
    """Notes a problem at a place below the credential."""

    def __call__(self, at: Path, message: str, /, hint: str = "", code: str = "MW105") -> None: ...


class Context(Struct, frozen=True):
    """The upstream's `url` and `variables`, the `folder` that paths are relative to, and `error`
    for problems."""

    url: str
    folder: FilePath
    error: Report
    variables: Mapping[str, str] = field(default_factory=dict)

    def text(self, value: str, at: Path = ()) -> str:
        """The value, for a header; reports a problem if it is not printable ASCII."""
        if not value.isprintable() or not value.isascii():
            self.error(at, "a credential holds printable ASCII characters only")
        return value

    def needs_extra(self, name: str, module: str, at: Path) -> None:
        """Report a problem if the optional extra `name`, which installs `module`, is missing."""
        if not _is_installed(module):
            hint = f"pip install 'modelway[{name}]'"
            message = f"this credential needs the extra {name}, which is not installed"
            self.error(at, message, hint, "MW108")

    def file(self, name: str, at: Path) -> FilePath:
        """The absolute path of a file; reports a problem if it does not exist."""
        path = self.folder / name
        if not isfile(path):
            self.error(at, f"there is no file '{name}'", code="MW106")
        return path


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


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

    def open(self, folder: FilePath | None, changed: Callable[[], None]) -> LiveCredential:
        """The credential for one worker. `folder` is shared by the workers of the machine, None
        for none; `changed` is called when the `secrets` of the live one have changed."""

    def placeholder(self) -> LiveCredential:
        """The credential for a rehearsal: it fetches nothing."""


OpenCredential = Callable[[Credential, Callable[[], None]], LiveCredential]
"""Makes the credential for one worker, or for a rehearsal; `changed` as in `Credential.open`."""


class CredentialKind(Struct, frozen=True, kw_only=True, eq=False):
    """A kind of credential, whose name is that of its key in gateway.yaml.

    `form` is the form in gateway.yaml, for hints: `{bearer: ...}`. `schema` is the JSON Schema of
    the value under that key, `more_keys` are the schemas of other keys, all of them required.
    `read` makes the credential of a section that matches them; problems go to the context. With
    `reads_body` it may need the whole body of a request, so that bodies are received before.
    """

    form: str
    schema: Json
    read: Callable[[Section, Context], Credential]
    more_keys: Section = field(default_factory=dict)
    reads_body: bool = True
