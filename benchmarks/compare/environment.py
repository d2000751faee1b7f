"""Environments of packages from PyPI and npm, kept in this user's cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.compare.system import LeftOut


def installed(name: str, *requirements: str, python: str = sys.executable) -> Path:
    """The virtual environment of that Python, a path or a name on PATH, with these requirements,
    made at the first call. Raises LeftOut where they cannot be installed."""
    program = shutil.which(python)
    if program is None:
        raise LeftOut(f"no interpreter {python}: write the path of one that this machine has")

    def install(home: Path) -> None:
        _run([program, "-m", "venv", "--without-pip", str(home)])
        command = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
        _run([*command, "install", "--quiet", *requirements])

    return _cached(name, (os.path.realpath(program), *requirements), install)


def installed_from_npm(
    name: str, dependencies: Mapping[str, str], overrides: Mapping[str, str]
) -> Path:
    """The folder in whose `node_modules` these packages are, by version, made at the first call.
    `overrides` are versions of what they need. Raises LeftOut where they cannot be installed."""
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if missing:
        raise LeftOut(f"{' and '.join(missing)} not installed (Debian: apt-get install npm)")
    package = json.dumps({"dependencies": dict(dependencies), "overrides": dict(overrides)})

    def install(home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text(package)
        _run(["npm", "install", "--silent", "--prefix", str(home)])

    return _cached(name, (package,), install)


def version_in(home: Path, package: str) -> str:
    """The version of a package in a virtual environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return output([str(home / "bin" / "python"), "-c", code])


def output(command: list[str]) -> str:
    """What a command prints, without the space around it."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _cached(name: str, contents: tuple[str, ...], install: Callable[[Path], None]) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256("\n".join(contents).encode()).hexdigest()[:12]
    home = cache / "modelway-benchmarks" / f"{name}-{digest}"
    ready = home / "ready"
    if not ready.exists():
        install(home)
        ready.touch()
    return home


def _run(command: list[str]) -> None:
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LeftOut(f"it cannot be installed: {process.stderr.strip()[-300:]}")
