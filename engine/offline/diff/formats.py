"""Differences as text for people, JSON, and GitHub's annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from engine.offline.diff.difference import Difference, Level
from engine.source.excerpt import printable

_COMMANDS = {Level.WEAKER: "error", Level.BREAKING: "warning"}


def as_text(found: Sequence[Difference]) -> str:
    """A line each, then how many there are."""
    return "\n".join([*(printable(str(one)) for one in found), summary(found)])


def summary(found: Sequence[Difference]) -> str:
    """`2 weaker, 1 added`, or `no difference`."""
    counted = Counter(one.level for one in found)
    said = [f"{counted[level]} {level}" for level in Level if counted[level]]
    return ", ".join(said) or "no difference"


def as_json(found: Sequence[Difference]) -> str:
    """`{differences: [{level, kind, file, line, column, subjects, message}], ...}`."""
    counted = Counter(one.level for one in found)
    differences = [
        {
            "level": one.level,
            "kind": one.kind,
            **one.place._asdict(),
            "subjects": list(one.subjects),
            "message": one.words,
        }
        for one in found
    ]
    counts = {level.value: counted[level] for level in Level}
    return json.dumps({"counts": counts, "differences": differences}, indent=2, ensure_ascii=False)


def as_github(found: Sequence[Difference]) -> str:
    """Workflow commands: errors for what is weaker, warnings for what breaks, notices else."""
    lines = []
    for one in found:
        command = _COMMANDS.get(one.level, "notice")
        file, title = _property(one.place.file), _property(f"{one.level}: {one.kind}")
        at = f"file={file},line={one.place.line},col={one.place.column},title={title}"
        lines.append(f"::{command} {at}::{_data(f'{one.subject}: {one.words}')}")
    return "\n".join([*lines, summary(found)])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
