"""Documents of several files, written to a folder and loaded."""

from __future__ import annotations

from pathlib import Path

from engine.source.problem import Findings, Problem
from engine.spec.document.node import Library, Node
from engine.spec.load import load

HEAD = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"


def read(folder: Path, **files: str) -> tuple[Library | None, list[Problem]]:
    """Write files (`a__b_json` is a/b.json, other names get `.yaml`) and load api.yaml."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path = path if path.suffix else path.with_suffix(".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    findings = Findings()
    return load(folder / "api.yaml", "api.yaml", findings), findings.problems


def at(library: Library | None, *keys: str) -> Node:
    assert library is not None
    node = library.document
    for key in keys:
        node = node.get(key)
    return node


def places(problems: list[Problem]) -> list[str]:
    return [f"{p.file}:{p.line}:{p.column} {p.code}" for p in problems]
