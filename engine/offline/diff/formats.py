"""Differences as text for people, JSON, GitHub's annotations, and Markdown for a comment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from engine.offline.diff.difference import Difference, Effect
from engine.source.annotation import annotation
from engine.source.excerpt import printable

_TITLES = {
    Effect.WEAKER: "Weaker: less protection",
    Effect.BREAKING: "Breaking: callers may fail",
    Effect.REMOVED: "Removed",
    Effect.CHANGED: "Changed",
    Effect.ADDED: "Added",
}
_OPEN = {Effect.WEAKER, Effect.BREAKING}
"""What a comment shows unfolded."""
_MOST_ROWS = 200
"""Of a level in a comment, whose length GitHub and GitLab bound."""
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


def as_markdown(differences: Sequence[Difference]) -> str:
    """A comment for a pull or merge request: a table for each level, the gravest first."""
    parts = [f"**modelway diff**: {summary(differences)}"]
    for level in Effect:
        rows = [_row(difference) for difference in differences if difference.level == level]
        if not rows:
            continue
        if len(rows) > _MOST_ROWS:
            rows[_MOST_ROWS:] = [f"| | | and {len(rows) - _MOST_ROWS} more |"]
        table = "\n".join(["| where | what | change |", "|---|---|---|", *rows])
        state = " open" if level in _OPEN else ""
        head = f"<details{state}><summary>{_TITLES[level]}</summary>"
        parts.append(f"{head}\n\n{table}\n\n</details>")
    return "\n\n".join(parts)


def _row(difference: Difference) -> str:
    place = difference.place
    where = f"{place.file}:{place.line}" if place.line else place.file
    return f"| {_code(where)} | {_code(difference.subject)} | {_code(difference.words)} |"


def _code(text: str) -> str:
    """A text from files as a code span of a table: nothing in it is read as Markdown or a name."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"
