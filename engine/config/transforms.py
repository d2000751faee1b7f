"""`transform` of gateway.yaml as written; `engine.transforms` compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine.config.joined import JoinedDocument
from engine.config.references import expander
from engine.source.problem import Path
from engine.source.reader import SourceDocument
from engine.source.values import ExpandError

_KEY = "transform"


@dataclass(frozen=True, slots=True)
class TransformConfig:
    """A transform: its options, which match the schema, and its place."""

    options: Mapping[str, Any] = field(hash=False)
    at: Path = field(compare=False)


def read_transform(section: Mapping[str, Any], at: Path) -> tuple[TransformConfig, ...]:
    """The transform of an entry at `at`: one, or none."""
    if _KEY not in section:
        return ()
    return (TransformConfig(section[_KEY], (*at, _KEY)),)


class LiteralReferences:
    """What `${...}` stands for is text in a transform, not a template: its braces are doubled."""

    def __init__(
        self, source: SourceDocument, folder: FilePath, environ: Mapping[str, str]
    ) -> None:
        self._source = source
        self._folder = folder
        self._environ = environ

    def escaped(self, value: Any, at: Path = (), *, below: bool = False) -> Any:
        """The value at a place, with such braces doubled in the strings `below` a transform."""
        if isinstance(value, dict):
            return {
                key: self.escaped(each, (*at, key), below=below or key == _KEY)
                for key, each in value.items()
            }
        if isinstance(value, list):
            return [self.escaped(e, (*at, i), below=below) for i, e in enumerate(value)]
        has_braces = below and isinstance(value, str) and ("{" in value or "}" in value)
        return self._text(value, at) if has_braces else value

    def _text(self, value: str, at: Path) -> str:
        reference = self._source.reference(at)
        if not reference:  # one that cannot be filled in is a problem already
            return _doubled(value) if "${" in value else value
        document = self._source
        if isinstance(document, JoinedDocument):
            document = document.part(at)[0]
        is_main = document.file == self._source.file
        folder = self._folder if is_main else FilePath(document.file).absolute().parent
        try:
            return expander(self._environ, folder, _doubled)(reference)
        except ExpandError:  # it could be filled in before: a file has changed meanwhile
            return _doubled(value)


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
