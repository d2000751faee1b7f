"""Virtual environments with packages of PyPI, which stay in a folder of the user's cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TIMEOUT = 2400
"""Seconds for an installation."""


class Unavailable(Exception):
    """Something that cannot be had here, and why."""


def installed(folder: Path, name: str, needs: Sequence[str], unwanted: Sequence[str] = ()) -> Path:
    """The Python of an environment below `folder`, after an installation where there is none.
    `needs` are the requirements for pip, `unwanted` what it installs and is removed again. Raises
    Unavailable."""
    mark = hashlib.sha256(repr((sys.version, needs, unwanted)).encode()).hexdigest()
    folder /= f"{name}-{mark[:12]}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run(name, sys.executable, "-m", "venv", folder)
        _run(name, python, "-m", "pip", "install", "--quiet", *needs)
        if unwanted:
            _run(name, python, "-m", "pip", "uninstall", "--quiet", "--yes", *unwanted)
        (folder / "complete").touch()
    return python


def _run(name: str, *command: str | Path) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{name} cannot be installed: {error.stderr[-500:]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{name} was not installed after {TIMEOUT} s") from error
