"""Importers: the config of another gateway -> gateway.yaml. ONE FILE OR FOLDER = ONE SOURCE: it
defines `IMPORTER`, a value of `interface.py`.

What cannot be imported is noted with its place and a reason; nothing is omitted silently.
"""

from __future__ import annotations

from engine.offline.imports.imported_config import ImportedConfig
from engine.offline.imports.sources.interface import Importer
from engine.source.reader import SourceDocument
from engine.values.discovery import Plugins

_IMPORTERS: Plugins[Importer] = Plugins(__name__, "IMPORTER", Importer)


def names() -> list[str]:
    """The names of all sources."""
    return _IMPORTERS.names()


def title(name: str) -> str:
    """The title of a source."""
    return _IMPORTERS.get(name).title


def read(name: str, source: SourceDocument) -> ImportedConfig:
    """The draft of a config from a source document whose value is a mapping."""
    draft = ImportedConfig(source)
    _IMPORTERS.get(name).read(draft)
    return draft
