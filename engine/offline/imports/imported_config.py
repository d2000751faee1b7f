"""A draft of gateway.yaml by an importer: entries with the lines they come from, and notes about
parts that were not imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from engine.config import providers
from engine.config.starter_config import SPECS, routes_for
from engine.source.problem import Path, Place, place_of
from engine.source.reader import SourceDocument
from engine.source.yaml_text import flow, string
from engine.values.trees import Json

_SCHEMA = "# yaml-language-server: $schema=schemas/gateway.schema.json\n#\n"
_MAX_WIDTH = 96
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


class Note(Struct, frozen=True, order=True):
    """A part of the source that is not imported: its place, its name and the reason."""

    place: Place
    subject: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: not imported: {self.subject}: {self.reason}"


@dataclass(slots=True)
class Entry:
    """An entry of a section, and the lines that it comes from."""

    value: Any
    lines: list[int]


@dataclass(slots=True)
class ImportedConfig:
    """The draft of a config. `documents` are OpenAPI documents by file name, `specs` the entries
    that name them, `secrets` the values of variables."""

    source: SourceDocument
    upstreams: dict[str, Entry] = field(default_factory=dict)
    models: dict[str, Entry] = field(default_factory=dict)
    prices: dict[str, Entry] = field(default_factory=dict)
    specs: Json = field(default_factory=dict)
    documents: Json = field(default_factory=dict)
    policies: list[Entry] = field(default_factory=list)
    routes: list[Entry] = field(default_factory=list)
    tokens: list[Entry] = field(default_factory=list)
    cors: Entry | None = None
    notes: list[Note] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is imported: no model, no route, and no token of a caller."""
        return not (self.models or self.routes or self.tokens)

    def line(self, path: Path) -> int:
        """The line of a value of the source."""
        return place_of(self.source, path).line

    def skip(self, path: Path, reason: str, subject: str = "") -> None:
        """Add a note that the value at a path is not imported."""
        name = subject or str(path[-1])
        note = Note(place_of(self.source, path, key=isinstance(path[-1], str)), name, reason)
        if note not in self.notes:
            self.notes.append(note)

    def variable(self, preferred_name: str, secret: str) -> str:
        """The environment variable for a literal `secret` of the source, or "" for a secret that it
        does not contain: the variable of the same secret, or one with the preferred name, with a
        number if another secret has that."""
        name, number = preferred_name, 2
        while self.secrets.setdefault(name, secret) != secret:
            name, number = f"{preferred_name}_{number}", number + 1
        return name

    def named(self, section: dict[str, Entry], preferred_name: str, value: Any, line: int) -> str:
        """The name of an entry with this value: of an existing entry, or of a new one with the
        preferred name, with a number if that is taken."""
        for name, entry in section.items():
            if entry.value == value:
                entry.lines.append(line)
                return name
        name, number = preferred_name, 2
        while name in section:
            name, number = f"{preferred_name}-{number}", number + 1
        section[name] = Entry(value, [line])
        return name

    def sections(self) -> Iterator[str]:
        """The sections with entries, as YAML."""
        for name in ("upstreams", "models", "prices"):
            entries: Mapping[str, Entry] = getattr(self, name)
            if entries:
                yield f"\n{name}:\n"
                for key, entry in entries.items():
                    yield from self._lines(f"  {string(key)}:", entry)
        for name in ("policies", "routes", "tokens"):
            listed: Sequence[Entry] = getattr(self, name)
            if listed:
                yield f"\n{name}:\n"
                for entry in listed:
                    yield from self._lines("  -", entry)

        if self.cors is not None:
            yield "\n"
            yield from self._lines("cors:", self.cors)

    def _lines(self, head: str, entry: Entry) -> Iterator[str]:
        lines = ", ".join(str(line) for line in sorted(set(entry.lines)))
        comment = f"  # {self.source.file}:{lines}"
        line = f"{head} {flow(entry.value)}"
        if len(line) <= _MAX_WIDTH or not isinstance(entry.value, dict):
            yield f"{line}{comment}\n"
            return
        yield f"{head}{comment}\n"
        for key, value in entry.value.items():
            yield from _block(f"    {string(key)}:", value)

    def text(self, title: str) -> str:
        """The config as YAML. `title` is the name of the source. Without specs or routes it gets
        those of the models' providers."""
        return "".join(
            (
                _SCHEMA,
                f"# Imported from {title}: a comment behind an entry names its lines there.\n",
                *(["# Not imported:\n"] if self.notes else []),
                *(f"#   {n.place}: {n.subject}: {n.reason}\n" for n in sorted(self.notes)),
                "version: 1\n\n",
                *self._specs(),
                *self.sections(),
                *self._routes(),
            )
        )

    def _specs(self) -> Iterator[str]:
        if not self.specs:
            yield SPECS
            return
        yield "specs:\n"
        yield from (f"  {string(name)}: {flow(value)}\n" for name, value in self.specs.items())

    def _routes(self) -> Iterator[str]:
        if self.models and not self.routes:
            names = {entry.value.get("provider", "") for entry in self.upstreams.values()} - {""}
            yield f"\nroutes:\n{routes_for([providers.read(name) for name in sorted(names)])}"

    def variables(self) -> list[str]:
        """The environment variables that the config needs."""
        return sorted({match[1] for text in self.sections() for match in _VARIABLE.finditer(text)})


def _block(head: str, value: object) -> Iterator[str]:
    line = f"{head} {flow(value)}"
    if len(line) > _MAX_WIDTH and isinstance(value, list) and value:
        yield f"{head}\n"
        yield from (f"      - {flow(item)}\n" for item in value)
    else:
        yield f"{line}\n"
