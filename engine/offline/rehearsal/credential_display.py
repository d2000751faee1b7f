"""Displays requests to an upstream without secrets: credentials, and the values of `${...}` in
headers and transforms, are replaced by the variable, `${NAME}`, or by `***`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.config.upstreams import UpstreamConfig
from engine.exchange.internal_request import Pairs
from engine.policies import transform_of
from engine.source.problem import Path, Source, part_of
from engine.source.reader import SourceDocument
from engine.values.redaction import Redaction, is_secret_name
from engine.values.trees import is_number, leaves, map_leaves

_MARKER = "***"
_VARIABLE = re.compile(r"[\"']?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_TEMPLATE = re.compile(r"(?<!\{)\{[^{}]+\}(?!\})")


class CredentialDisplay:
    """Replaces the credentials of a config's upstreams in all texts."""

    def __init__(self, config: Config) -> None:
        self._upstreams = config.upstreams
        secrets = [s for upstream in config.upstreams.values() for s in _secrets(upstream)]
        transforms = [*_transforms(config)]
        edits = [edit for transform in transforms for edit in _secret_edits(transform)]
        self._edited = {name.lower() for name, _ in edits}
        self._redaction = Redaction([*secrets, *(value for _, value in edits)], _MARKER)
        filled_in = [each for at, value in _edits(config) for each in _filled_in(config, value, at)]
        self._filled_in = [
            Redaction(each.texts, each.marker, whole=each.marker != _MARKER)
            for each in filled_in
            if each.number is None
        ]
        self._numbers = {each.number: each.marker for each in filled_in if each.number is not None}
        self._variables = {
            name: _variable(config.source, upstream) for name, upstream in config.upstreams.items()
        }

    def text(self, text: str) -> str:
        """A text without credentials, and without the values of `${...}` in transforms."""
        text = self._redaction.redact_text(text)
        for redaction in self._filled_in:
            text = redaction.redact_text(text)
        return text

    def json(self, value: Any) -> Any:
        """Any value of JSON, whose texts and numbers are displayed like this."""
        return map_leaves(value, lambda _, leaf: self._leaf(leaf))

    def _leaf(self, value: Any) -> object:
        if isinstance(value, str):
            return self.text(value)
        return self._numbers.get(value, value) if is_number(value) else value

    def headers(self, upstream: str, headers: Pairs) -> list[tuple[str, str]]:
        """Request headers for an upstream. The values of credentials, and of headers that the
        config sets under the name of a secret, are replaced."""
        config = self._upstreams[upstream]
        credentials = {c.header for c in config.credentials}
        secrets = {name for name in _changes(config) if is_secret_name(name)} | self._edited
        return [
            (name, self._header(upstream, value, name in credentials))
            if name in credentials or name in secrets
            else (name, self.text(value))
            for name, value in headers
        ]

    def _header(self, upstream: str, value: str, credential: bool) -> str:
        scheme = "Bearer " if value.startswith("Bearer ") else ""
        return scheme + (self._variables[upstream] if credential else _MARKER)

    def url(self, upstream: str, url: str) -> str:
        """A URL for an upstream, without a credential in the query."""
        credentials = self._upstreams[upstream].credentials
        names = {quote(c.parameter, safe="") for c in credentials if c.parameter}
        base, mark, query = url.partition("?")
        pairs = [_parameter(pair, names) for pair in query.split("&")] if mark else []
        return self.text(base) + mark + self.text("&".join(pairs))


def _parameter(pair: str, credentials: set[str]) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}{equals}{_MARKER}" if name in credentials else pair


def _variable(source: Source, upstream: UpstreamConfig) -> str:
    """The variable of an upstream's only credential, as `${NAME}`; `***` without one."""
    for key in ("bearer", "value"):
        part, at = part_of(source, (*upstream.at, "credential", key))
        line, column = part.place(at)
        lines = part.text.splitlines()[line - 1 : line]
        match = _VARIABLE.match(lines[0], column - 1) if lines else None
        if match is not None:
            return f"${{{match[1]}}}"
    return _MARKER


def _secrets(upstream: UpstreamConfig) -> Iterator[str]:
    for credential in upstream.credentials:
        yield from credential.secrets
    yield from (value for name, value in _changes(upstream).items() if is_secret_name(name))


def _changes(upstream: UpstreamConfig) -> dict[str, str]:
    return {**upstream.headers.set, **upstream.headers.add}


def _transforms(config: Config) -> Iterator[TransformConfig]:
    """All transforms of a config: of upstreams, models, targets and policies."""
    targets = [target for model in config.models.values() for target in model.targets]
    targets += [target for route in config.routes for target in route.to]
    for upstream in config.upstreams.values():
        yield from (each for each in upstream.transform if each.at[-1] != "provider")
    for model in config.models.values():
        yield from model.transform
    for target in targets:
        yield from target.transform
    for policies in (config.policies, *(route.policies for route in config.routes)):
        for policy in policies:
            yield from transform_of(policy)


def _secret_edits(transform: TransformConfig) -> Iterator[tuple[str, str]]:
    """The headers, parameters and texts of bodies with the name of a secret that a transform
    sets."""
    request = transform.options.get("request", {})
    for part in ("header", "query", "body"):
        for kind in ("set", "add", "default"):
            for name, value in request.get(part, {}).get(kind, {}).items():
                is_text = part != "body" or isinstance(value, str)  # not the number of max_tokens
                if is_text and is_secret_name(name.rpartition("/")[2]):
                    yield name, str(value)


def _edits(config: Config) -> Iterator[tuple[Path, object]]:
    """What a config puts into requests and responses, with its places: no one but the operator
    knows what is secret of it."""
    section: Any = config.source.value.get("upstreams", {})
    for name, upstream in config.upstreams.items():
        for kind, headers in section.get(name, {}).get("headers", {}).items():
            if kind in ("set", "add"):
                # `${...}` in transforms has its braces doubled.
                texts = {
                    header: f"{value}".replace("{", "{{").replace("}", "}}")
                    for header, value in headers.items()
                }
                yield (*upstream.at, "headers", kind), texts
    for transform in _transforms(config):
        yield transform.at, transform.options


class _FilledIn(NamedTuple):
    """A value into which `${...}` was filled: its texts, or the number that it is, and what is
    displayed instead."""

    marker: str
    texts: list[str]
    number: float | None = None


def _filled_in(config: Config, value: object, at: Path) -> Iterator[_FilledIn]:
    """The values below `at` into which `${...}` was filled, displayed as the variable, or as `***`
    where they are more than that. Templates are excluded."""
    for place, scalar in _scalars(value, at):
        part, below = part_of(config.source, place)
        if not isinstance(part, SourceDocument) or not (reference := part.reference(below)):
            continue
        variable = _VARIABLE.fullmatch(reference.strip("\"'"))
        marker = f"${{{variable[1]}}}" if variable else _MARKER
        if isinstance(scalar, str):
            pieces = [piece for piece in _TEMPLATE.split(scalar) if piece.strip()]
            texts = [piece.replace("{{", "{").replace("}}", "}") for piece in pieces]
            yield _FilledIn(marker, texts)
        else:
            yield _FilledIn(marker, [], scalar)


def _scalars(value: object, at: Path) -> Iterator[tuple[Path, str | float]]:
    """The texts and numbers in a value at a place."""
    for path, leaf in leaves(value, at):
        if isinstance(leaf, str | int | float) and not isinstance(leaf, bool):
            yield path, leaf
