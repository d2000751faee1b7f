"""Credentials as they may be shown: by the variable they came from, or as `***`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from engine.config.model import Config, Upstream
from engine.offline.rehearsal.observation import Pairs
from engine.offline.rehearsal.places import part_of
from engine.source.problem import Source

HIDDEN = "***"
_VARIABLE = re.compile(r"[\"']?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_SECRETIVE = re.compile(r"auth|cookie|key|password|secret|token", re.IGNORECASE)
_SHORTEST = 4


class Redaction:
    """What the credentials of a config are shown as, wherever they stand."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._secrets = {s for upstream in config.upstreams.values() for s in _secrets(upstream)}
        self._of_upstream = {
            name: _variable(config.source, upstream) for name, upstream in config.upstreams.items()
        }

    def text(self, words: str) -> str:
        """Any words, without credentials."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST:
                words = words.replace(secret, HIDDEN).replace(quote(secret, safe=""), HIDDEN)
        return words

    def headers(self, upstream: str, headers: Pairs) -> list[tuple[str, str]]:
        """Headers for an upstream; those that we put on it by a telling name are hidden."""
        said = self._config.upstreams[upstream]
        ours = {c.name for c in said.credentials if c.kind == "header"}
        changed = {**said.headers.set, **said.headers.add}
        return [
            (name, self._header(upstream, value, name in ours))
            if name in ours or (name in changed and _is_secret(name))
            else (name, self.text(value))
            for name, value in headers
        ]

    def _header(self, upstream: str, value: str, credential: bool) -> str:
        scheme = "Bearer " if value.startswith("Bearer ") else ""
        return scheme + (self._of_upstream[upstream] if credential else HIDDEN)

    def url(self, upstream: str, url: str) -> str:
        """A URL for an upstream, its credential in the query hidden."""
        ours = {c.name for c in self._config.upstreams[upstream].credentials if c.kind == "query"}
        base, mark, query = url.partition("?")
        pairs = [_hidden(pair, ours) for pair in query.split("&")] if mark else []
        return self.text(base) + mark + self.text("&".join(pairs))


def _hidden(pair: str, ours: set[str]) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}{equals}{HIDDEN}" if name in {quote(n, safe="") for n in ours} else pair


def _variable(source: Source, upstream: Upstream) -> str:
    """The variable that an upstream's one credential is read from, as the file has it."""
    for key in ("bearer", "value"):
        part, at = part_of(source, (*upstream.at, "credential", key))
        line, column = part.place(at)
        lines = part.text.splitlines()[line - 1 : line]
        found = _VARIABLE.match(lines[0], column - 1) if lines else None
        if found is not None:
            return f"${{{found[1]}}}"
    return HIDDEN


def _secrets(upstream: Upstream) -> Iterator[str]:
    for credential in upstream.credentials:
        yield credential.value.removeprefix("Bearer ")
    for name, value in {**upstream.headers.set, **upstream.headers.add}.items():
        if _is_secret(name):
            yield value.removeprefix("Bearer ")


def _is_secret(header: str) -> bool:
    return _SECRETIVE.search(header) is not None
