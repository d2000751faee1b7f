"""The type of an importer: each file or folder of this room defines `IMPORTER`, a value of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from engine.offline.imports.imported_config import ImportedConfig


class Importer(Struct, frozen=True):
    """A source of `modelway import`: its title, and `read`, which fills a draft from its source
    document, whose value is a mapping."""

    title: str
    read: Callable[[ImportedConfig], None]
