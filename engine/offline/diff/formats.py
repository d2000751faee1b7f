"""Differences as text, JSON, GitHub's annotations, and Markdown for a comment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from engine.offline.diff.difference import Difference, Effect
from engine.source.excerpt import annotation, printable

_TITLES = {
    Effect.WEAKER: "Weaker: less protection",
    Effect.BREAKING: "Breaking: callers may fail",
    Effect.REMOVED: "Removed",
    Effect.CHANGED: "Changed",
    Effect.ADDED: "Added",
}
_OPEN = {Effect.WEAKER, Effect.BREAKING}
"""The levels that a comment shows unfolded."""
_MAX_ROWS = 200
"""The largest number of rows per level in a comment: GitHub and GitLab limit its length."""
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
            "message": difference.message,
        }
        for difference in differences
    ]
    document = {"counts": {level.value: counts[level] for level in Effect}, "differences": rows}
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_github(differences: Sequence[Difference]) -> str:
    """Workflow commands: an error for `weaker`, a warning for `breaking`, a notice for others."""
    lines = [
        annotation(
            _COMMANDS.get(difference.level, "notice"),
            f"{difference.level}: {difference.kind}",
            f"{difference.subject}: {difference.message}",
            **difference.place._asdict(),
        )
        for difference in differences
    ]
    return "\n".join([*lines, summary(differences)])


def as_markdown(differences: Sequence[Difference]) -> str:
    """A comment for a pull or merge request: a table for each level, the most severe first."""
    parts = [f"**modelway diff**: {summary(differences)}"]
    for level in Effect:
        rows = [_row(difference) for difference in differences if difference.level == level]
        if not rows:
            continue
        if len(rows) > _MAX_ROWS:
            rows[_MAX_ROWS:] = [f"| | | and {len(rows) - _MAX_ROWS} more |"]
        table = "\n".join(["| where | what | change |", "|---|---|---|", *rows])
        state = " open" if level in _OPEN else ""
        head = f"<details{state}><summary>{_TITLES[level]}</summary>"
        parts.append(f"{head}\n\n{table}\n\n</details>")
    return "\n\n".join(parts)


def _row(difference: Difference) -> str:
    place = difference.place
    where = f"{place.file}:{place.line}" if place.line else place.file
    return f"| {_code(where)} | {_code(difference.subject)} | {_code(difference.message)} |"


def _code(text: str) -> str:
    """A text as a code span in a table, in which Markdown and @names have no effect."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"
