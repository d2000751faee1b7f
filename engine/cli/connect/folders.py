"""The folders of a user that the environment names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def folder_of(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    """The folder that a variable names. A relative one is none: the XDG Base Directory
    Specification says so, and another working folder would make it another."""
    folder = Path(environ.get(variable, ""))
    return folder if folder.is_absolute() else default
