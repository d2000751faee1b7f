"""Differences as text for people, JSON, and GitHub's annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from engine.offline.diff.difference import Difference, Effect
from engine.source.annotation import annotation
from engine.source.excerpt import printable

_COMMANDS = {Effect.WEAKER: "error", Effect.BREAKING: "warning"}


def as_text(differences: Sequence[Difference]) -> str:
    """A line for each, then the summary."""
    return "\n".join(
        [*(printable(str(difference)) for difference in differences), summary(differences)]
    )


def summary(differences: Sequence[Difference]) -> str:
    """`2 weaker, 1 added`, or `no difference`."""
    counts = Counter(difference.level for difference in differences)
    parts = [f"{counts[level]} {level}" for level in Effect if counts[level]]
    return ", ".join(parts) or "no difference"


def as_json(differences: Sequence[Difference]) -> str:
    """`{differences: [{level, kind, file, line, column, subjects, message}], ...}`."""
    counts = Counter(difference.level for difference in differences)
    rows = [
        {
            "level": difference.level,
            "kind": difference.kind,
            **difference.place._asdict(),
            "subjects": list(difference.subjects),
            "message": difference.words,
        }
        for difference in differences
    ]
    document = {"counts": {level.value: counts[level] for level in Effect}, "differences": rows}
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_github(differences: Sequence[Difference]) -> str:
    """Workflow commands: errors for what is weaker, warnings for what breaks, notices else."""
    lines = [
        annotation(
            _COMMANDS.get(difference.level, "notice"),
            f"{difference.level}: {difference.kind}",
            f"{difference.subject}: {difference.words}",
            **difference.place._asdict(),
        )
        for difference in differences
    ]
    return "\n".join([*lines, summary(differences)])
