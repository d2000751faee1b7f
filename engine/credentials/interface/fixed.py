"""Credentials with a fixed value in the config: a header, or a query parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote_to_bytes

from engine.values.trees import Json
from engine.values.upstream_request import UpstreamRequest

_NAME = itemgetter(0)

VALUE: Json = {
    "value": {
        "description": "The credential for `header` or `query`.",
        "type": "string",
        "minLength": 1,
        "x-modelway": {"secret": "named"},
    }
}
"""The schema of `value`, the key that `header` and `query` need."""


@dataclass(frozen=True, slots=True)
class FixedCredential:
    """A fixed value that is set on every request. It is its own LiveCredential."""

    kind: str
    name: str
    value: str = field(repr=False)

    @property
    def header(self) -> str:
        return ""

    @property
    def parameter(self) -> str:
        return ""

    @property
    def label(self) -> str:
        return f"{'header' if self.header else 'query'} {self.name}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.value,)

    @property
    def secrets_go_to(self) -> str:
        return ""

    def open(self, folder: Path | None, changed: Callable[[], None]) -> Self:
        return self

    def placeholder(self) -> Self:
        return self

    def renew(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class HeaderCredential(FixedCredential):
    """A header; its name is in lower case."""

    @property
    def header(self) -> str:
        return self.name

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        set_header(request, self.name, self.value)


@dataclass(frozen=True, slots=True)
class QueryCredential(FixedCredential):
    """A parameter of the query string."""

    @property
    def parameter(self) -> str:
        return self.name

    def apply(self, request: UpstreamRequest, timeout: float) -> None:
        """Set the parameter, in place of any of that name from the caller: the upstream might read
        the first one."""
        pairs = request.query.split("&") if request.query else []
        others = [pair for pair in pairs if _name(pair) != self.name]
        pair = f"{quote(self.name, safe='')}={quote(self.value, safe='')}"
        request.query = "&".join([*others, pair])


def _name(pair: str) -> str:
    """The decoded name of a parameter, whose bytes are encoded as Latin-1."""
    coded = pair.partition("=")[0].replace("+", " ").encode("latin-1")
    return unquote_to_bytes(coded).decode(errors="replace")


def set_header(request: UpstreamRequest, name: str, value: str) -> None:
    """Set a header, in place of any of its name."""
    headers = request.headers
    if name in map(_NAME, headers):
        headers[:] = [pair for pair in headers if pair[0] != name]
    headers.append((name, value))
