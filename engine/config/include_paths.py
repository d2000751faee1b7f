"""Paths in an included file start at that file's folder: here they are told from gateway.yaml's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_EVERY = "*"
_PATHS = (
    ("specs", _EVERY, "document"),
    ("specs", _EVERY, "overlays", _EVERY),
    ("upstreams", _EVERY, "tls", "ca"),
    ("upstreams", _EVERY, "tls", "certificate"),
    ("upstreams", _EVERY, "tls", "key"),
    ("stores", "journal"),
    ("stores", "records"),
)
_SQLITE = "sqlite:///"


def rebase(value: dict[str, Any], base: str, folder: Path) -> None:
    """Rewrite every relative path in an included file's value. `base` is that file's folder, seen
    from `folder`, the folder of gateway.yaml. Values of another shape are left alone."""
    if base:
        for path in _PATHS:
            _at(value, path, base, folder)


def _at(holder: Any, path: tuple[str, ...], base: str, folder: Path) -> None:
    step, *rest = path
    if isinstance(holder, dict):
        steps: list[Any] = list(holder) if step == _EVERY else [step] if step in holder else []
    else:
        steps = list(range(len(holder))) if isinstance(holder, list) and step == _EVERY else []
    for one in steps:
        if rest:
            _at(holder[one], tuple(rest), base, folder)
        elif isinstance(holder[one], str) and holder[one]:
            holder[one] = _from(holder[one], base, folder)


def _from(said: str, base: str, folder: Path) -> str:
    scheme = _SQLITE if said.startswith(_SQLITE) else ""
    path = said.removeprefix(scheme)
    if os.path.isabs(path) or (not scheme and "://" in path):
        return said
    joined = os.path.join(base, path)
    plain = os.path.normpath(joined)
    # `..` behind a link leads elsewhere than the text says.
    same = os.path.realpath(folder / joined) == os.path.realpath(folder / plain)
    return scheme + (plain if same else joined)
