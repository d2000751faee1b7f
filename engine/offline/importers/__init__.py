"""Importers: the config of another gateway -> gateway.yaml. ONE FILE OR FOLDER = ONE SOURCE: a
module with `TITLE` and `read(draft)`, which fills an ImportedConfig from its source document.

What cannot be carried over is noted with its place and a reason, never left out in silence.
"""

from __future__ import annotations

import importlib
import pkgutil

from engine.offline.imported_config import ImportedConfig
from engine.source.reader import SourceDocument


def names() -> list[str]:
    """The names of all sources."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def title(name: str) -> str:
    """The title of a source."""
    return str(importlib.import_module(f"{__name__}.{name}").TITLE)


def read(name: str, source: SourceDocument) -> ImportedConfig:
    """The draft of a config from a source document whose value is a mapping."""
    draft = ImportedConfig(source)
    importlib.import_module(f"{__name__}.{name}").read(draft)
    return draft
