"""The version, in every file that names it."""

from __future__ import annotations

import re
from pathlib import Path

PLACES = {
    "pyproject.toml": r'(?m)^version = "()[^"]+"$',
    "deploy/Containerfile": r'(?m)^.*image\.version="()[^"]+"',
    "deploy/helm/modelway/Chart.yaml": r'(?m)^(?:version|appVersion): *"?()[\w.+-]+"?$',
    "docs/how-to/ci.md": r"(?m)(?:rev: |/modelway@)v()[\w.+-]+",
    "action.yml": r"(?m)>@v()[\w.+-]+(?=`)",
    "deploy/kustomize/base/kustomization.yaml": r'(?m)^ +newTag: *"?()[\w.+-]+"?$',
}
"""A file, and a pattern whose empty group stands where the version begins."""
_VERSION = r"[0-9][\w.+-]*"


def require_version(text: str) -> None:
    """Raises ValueError for what is no version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", text):
        raise ValueError(f"{text!r} is no version: write 0.2.0 or 0.2.0rc1")


def set_version(root: Path, version: str) -> list[str]:
    """Write the version into every file of PLACES; the names of those that there are."""
    require_version(version)
    changed = []
    for name, pattern in PLACES.items():
        file = root / name
        if not file.is_file():
            continue
        text = file.read_text("utf-8")
        places = [match.start(1) for match in re.finditer(pattern, text)]
        if not places:
            raise ValueError(f"{name} has no version where one is expected")
        for place in reversed(places):
            text = text[:place] + re.sub(rf"\A{_VERSION}", version, text[place:])
        file.write_text(text, "utf-8")
        changed.append(name)
    return changed
