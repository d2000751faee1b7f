"""The context in which a kind of credential reads its section of the config."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from os.path import isfile
from pathlib import Path as FilePath
from typing import Protocol

from msgspec import Struct, field

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
