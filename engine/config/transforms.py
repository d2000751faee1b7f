"""`transform` of gateway.yaml as written; `engine.transforms` compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine.config.joined_document import JoinedDocument
from engine.config.references import expander
from engine.source.problem import Path
from engine.source.reader import SourceDocument
from engine.source.values import ExpandError
from engine.values.trees import Section, with_changes

_KEY = "transform"


@dataclass(frozen=True, slots=True)
class TransformConfig:
    """A transform: its options, which match the schema, and its place."""

    options: Section = field(hash=False)
    at: Path = field(compare=False)


def read_transform(section: Section, at: Path) -> tuple[TransformConfig, ...]:
    """The transform of an entry at `at`: one, or none."""
    if _KEY not in section:
        return ()
    return (TransformConfig(section[_KEY], (*at, _KEY)),)


class LiteralReferences:
    """Makes the value of `${...}` plain text in a transform, not a template: it doubles braces."""

    def __init__(
        self, source: SourceDocument, folder: FilePath, environ: Mapping[str, str]
    ) -> None:
        self._source = source
        self._folder = folder
        self._environ = environ

    def escape(self, value: Any, at: Path = (), *, in_transform: bool = False) -> Any:
        """The value at `at`, with the braces of references doubled in strings of transforms. Parts
        that stay equal are not copied."""
        if isinstance(value, dict | list):
            return with_changes(
                value,
                lambda step, entry: self.escape(
                    entry, (*at, step), in_transform=in_transform or step == _KEY
                ),
            )
        has_braces = in_transform and isinstance(value, str) and ("{" in value or "}" in value)
        return self._text(value, at) if has_braces else value

    def _text(self, value: str, at: Path) -> str:
        reference = self._source.reference(at)
        if not reference:  # a reference that could not be expanded is a problem already
            return _double_braces(value) if "${" in value else value
        document = self._source
        if isinstance(document, JoinedDocument):
            document = document.part(at)[0]
        is_main = document.file == self._source.file
        folder = self._folder if is_main else FilePath(document.file).absolute().parent
        try:
            return expander(self._environ, folder, _double_braces)(reference)
        except ExpandError:  # it was expanded before, so a file has changed since
            return _double_braces(value)


def _double_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
