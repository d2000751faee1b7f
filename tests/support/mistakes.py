"""Mistakes that people make in a config or a document, and what `modelway check` says of each.

A mistake is an entry of tests/cases/mistakes/sets/<set>.yaml. It changes a file of the project in
tests/cases/mistakes/project:

    name   what it is
    file   the file, by default gateway.yaml; with prod.yaml, which is an overlay, both are checked
    from   a text that stands in the file once; `to` is put in its place
    to     the mistake. `¦` stands before each place at which it may be reported
    at     a text of the changed file with the places, where they are not in `to`
    hint   words that the first finding has, in its message or hint; absent if none is due
    but    what the first finding may have wrong: caught, line, column, hint

The places and words of a mistake are those that a person would look for.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from engine.cli.check_formats import in_order
from engine.offline.check.audit import audit
from engine.offline.check.ignores import Ignores
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level, Problem
from engine.spec.document.checks.mistakes import note_mistakes
from engine.spec.document.checks.standard_breaches import breaches
from tests.support import paths, yaml_text

FOLDER = paths.CASES / "mistakes"
MARK = "¦"
ENVIRON = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "ORDERS_KEY": "c"}
TODAY = date(2026, 7, 1)
_OVERLAY = "prod.yaml"


@dataclass(frozen=True)
class Mistake:
    """A mistake, and what is right about it: its places in the file, and the words."""

    name: str
    file: str
    text: str
    places: frozenset[tuple[int, int]]
    hint: tuple[str, ...]
    but: tuple[str, ...] = ()


class Score(NamedTuple):
    """What the first finding of a mistake has right. `hint` is None if no hint is due."""

    caught: bool
    line: bool
    column: bool
    hint: bool | None

    @property
    def wrong(self) -> list[str]:
        """The names of what is wrong."""
        return [name for name, right in self._asdict().items() if right is False]


def sets() -> list[str]:
    """The names of the sets."""
    return sorted(path.stem for path in (FOLDER / "sets").glob("*.yaml"))


def mistakes(name: str) -> Iterator[Mistake]:
    """The mistakes of a set. ValueError for one that does not fit the project."""
    entries = yaml_text.load((FOLDER / "sets" / f"{name}.yaml").read_text("utf-8"))
    for entry in entries:
        yield _mistake(entry)


def project(folder: Path) -> Path:
    """A copy of the project, in which nothing is wrong."""
    return Path(shutil.copytree(FOLDER / "project", folder / "project"))


def findings(folder: Path, *, overlay: bool = False) -> list[Problem]:
    """The errors and warnings of `modelway check` on the project, as it prints them; the working
    directory is `folder`."""
    overlays = [Path(_OVERLAY)] if overlay else []
    result = make_plan(Path("gateway.yaml"), ENVIRON, overlays=overlays)
    for specification in result.specifications.values():
        breaches(specification.library, result.findings)
        note_mistakes(specification.library, result.findings)
    audit(result, ENVIRON, TODAY)
    ignores = Ignores()
    problems = ignores.silence(result.problems, result.texts)
    return in_order(problem for problem in problems if problem.level is not Level.INFO)


def findings_of(mistake: Mistake, folder: Path) -> list[Problem]:
    """The findings of the project with a mistake. Leaves the project as it was."""
    path = folder / mistake.file
    before = path.read_bytes()
    path.write_text(mistake.text, "utf-8", newline="")
    try:
        return findings(folder, overlay=mistake.file == _OVERLAY)
    finally:
        path.write_bytes(before)


def score(mistake: Mistake, problems: list[Problem]) -> Score:
    """What the first finding, which is printed first, has right."""
    if not problems:
        return Score(False, False, False, False if mistake.hint else None)
    first = problems[0]
    here = first.file == mistake.file
    line = here and first.line in {line for line, _ in mistake.places}
    column = here and (first.line, first.column) in mistake.places
    words = f"{first.message} {first.hint}"
    hint = all(word in words for word in mistake.hint) if mistake.hint else None
    return Score(True, line, column, hint)


def _mistake(entry: Mapping[str, Any]) -> Mistake:
    file = entry.get("file", "gateway.yaml")
    path = next((FOLDER / "project").rglob(Path(file).name))
    text = path.read_text("utf-8")
    if text.count(entry["from"]) != 1:
        raise ValueError(f"{entry['name']}: {entry['from']!r} must stand in {file} once")
    before, after = text.split(entry["from"])
    marked = before + entry["to"] + after
    if "at" in entry:
        bare = entry["at"].replace(MARK, "")
        if marked.count(bare) != 1:
            raise ValueError(f"{entry['name']}: {bare!r} must stand in the changed file once")
        marked = marked.replace(bare, entry["at"])
    places = frozenset(_places(marked))
    if not places:
        raise ValueError(f"{entry['name']}: no place is marked")
    hint, but = (tuple(map(str, entry.get(key, ()))) for key in ("hint", "but"))
    return Mistake(entry["name"], file, marked.replace(MARK, ""), places, hint, but)


def _places(marked: str) -> Iterator[tuple[int, int]]:
    for number, line in enumerate(marked.split("\n"), 1):
        parts = line.split(MARK)
        for count in range(1, len(parts)):
            yield number, len("".join(parts[:count])) + 1
