"""The files of one config: gateway.yaml and its overlays, as commands and variables name them."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


class ConfigFiles(Struct, frozen=True):
    """The main file, and its overlays in the order in which they apply."""

    main: Path
    overlays: tuple[Path, ...] = ()

    @classmethod
    def parse(cls, text: str) -> ConfigFiles:
        """Parse `gateway.yaml:prod.yaml`. If a file with the whole text as its name exists, the
        text means that file."""
        names = [text] if os.path.exists(text) else [n for n in text.split(os.pathsep) if n]
        main, *overlays = map(Path, names or [text])
        return cls(main, tuple(overlays))

    def __str__(self) -> str:
        return " + ".join(map(str, (self.main, *self.overlays)))
