"""Virtual environments for systems that come from PyPI, kept in this user's cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.compare.system import LeftOut


def installed(name: str, requirement: str) -> Path:
    """The environment with that requirement, made at the first call. Raises LeftOut where it cannot
    be installed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = cache / "modelway-benchmarks" / f"{name}-{python}"
    ready = home / "ready"
    if not ready.exists():
        _run([sys.executable, "-m", "venv", str(home)])
        _run([str(home / "bin" / "pip"), "install", "--quiet", requirement])
        ready.touch()
    return home


def version_in(home: Path, package: str) -> str:
    """The version of a package in an environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    command = [str(home / "bin" / "python"), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _run(command: list[str]) -> None:
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LeftOut(f"it cannot be installed: {process.stderr.strip()[-300:]}")
