"""README.md for a package index, which has none of the files beside it.

Relative links lead to the repository, at the tag of the version. Its address is `Repository` under
`[project.urls]` of pyproject.toml; without one a link becomes its text and the name of the file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RELATIVE_LINK = re.compile(r"\[([^]]+)\]\((?![a-z]+:|#)([^)\s]+)\)")


def repository_of(root: Path) -> str | None:
    """The address of the repository, as pyproject.toml has it."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    address: str | None = project.get("urls", {}).get("Repository")
    return address


def readme_for_index(text: str, repository: str | None, version: str) -> str:
    """The text without relative links."""
    if repository is None:
        return _RELATIVE_LINK.sub(r"\1 (`\2`)", text)
    return _RELATIVE_LINK.sub(rf"[\1]({repository.rstrip('/')}/blob/v{version}/\2)", text)


@contextmanager
def index_readme(root: Path, version: str) -> Iterator[None]:
    """README.md is that of an index meanwhile, for a build."""
    file = root / "README.md"
    original = file.read_bytes()
    text = readme_for_index(original.decode(), repository_of(root), version)
    file.write_bytes(text.encode())
    try:
        yield
    finally:
        file.write_bytes(original)
