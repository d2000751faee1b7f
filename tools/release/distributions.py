"""The source distribution and the wheel: built, and tried in empty environments."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

PYTHONS = ("3.11", "3.12", "3.13")
_VERSION_OF_PYTHON = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
_DEMO_WORDS = re.compile(r"http://[\d.]+:\d+|mw-[\w-]+")


def build(root: Path, dist: Path) -> list[Path]:
    """Build both into an empty folder, with their checksums beside them in SHA256SUMS."""
    shutil.rmtree(dist, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(dist), str(root))
    archives = sorted(dist.iterdir())
    sums = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in archives)
    (dist / "SHA256SUMS").write_text("".join(sums), "utf-8")
    return archives


def interpreters() -> Iterator[tuple[str, Path]]:
    """The supported versions of Python that this machine has: those of the path, and of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in PYTHONS:
        on_path = shutil.which(f"python{version}")
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
        for candidate in candidates:
            probe = [str(candidate), "-c", _VERSION_OF_PYTHON]
            result = subprocess.run(probe, capture_output=True, text=True, check=False)
            if result.stdout.strip() == version:
                yield version, candidate
                break


def smoke_test(python: Path, archive: Path, version: str) -> None:
    """Install an archive into an empty environment: its version, its manual pages, the check of a
    new project, and the demo."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(str(python), "-m", "venv", str(folder / "venv"))
        commands = folder / "venv" / "bin"
        _run(str(commands / "python"), "-m", "pip", "install", "--quiet", str(archive))
        modelway = str(commands / "modelway")
        report = json.loads(_run(modelway, "version", "--json", folder=folder))
        if report["version"] != version:
            raise ValueError(f"{archive.name} calls itself {report['version']}, not {version}")
        if not (folder / "venv" / "share" / "man" / "man1" / "modelway.1").is_file():
            raise ValueError(f"{archive.name} has no manual pages")
        _run(modelway, "init", "project", folder=folder)
        _run(modelway, "check", "--quiet", folder=folder / "project")
        _ask_demo(modelway, folder)


def _ask_demo(modelway: str, folder: Path) -> None:
    """Start `modelway demo` and read its list of models with the token that it prints."""
    process = subprocess.Popen(
        [modelway, "demo"], cwd=folder, env=_environment(), text=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        words: dict[str, str] = {}
        while len(words) < 2:
            line = process.stdout.readline()
            if not line:
                raise ValueError("modelway demo ended before it printed an address and a token")
            words |= {word[:2]: word for word in _DEMO_WORDS.findall(line)}
        headers = {"authorization": f"Bearer {words['mw']}"}
        with urlopen(Request(f"{words['ht']}/v1/models", headers=headers), timeout=30) as response:
            if not json.load(response)["data"]:
                raise ValueError("the demo has no models")
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _environment() -> dict[str, str]:
    """The variables of an environment of its own, with what gateway.yaml of a new project needs."""
    names = re.compile(r"PATH|HOME|LANG|SOURCE_DATE_EPOCH|PIP_\w+|https?_proxy", re.IGNORECASE)
    variables = {name: value for name, value in os.environ.items() if names.fullmatch(name)}
    keys = {f"{vendor}_API_KEY": "example" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}
    return variables | keys | {"PYTHONUNBUFFERED": "1"}


def _run(*command: str, folder: Path | None = None) -> str:
    result = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout
