"""A secret that stands in the file, and with it in every copy of the file."""

from __future__ import annotations

from engine.audit.case import Case
from engine.config.include import Assembled
from engine.config.literals import literals
from engine.marked_yaml import Marked
from engine.problem import Level

_NO_SECRET = frozenset({"not-set", "none", "empty", "dummy", "unused", "ollama", "not-needed"})
_SHORTEST = 6


def check(case: Case) -> None:
    source = case.config.source
    files = source.files if isinstance(source, Assembled) else [source]
    for file in files:
        if not isinstance(file, Marked):
            continue
        for literal in literals(file):
            said = file.text[literal.start : literal.end].strip()
            if len(said) < _SHORTEST or said.lower() in _NO_SECRET:
                continue
            case.findings.note(
                file,
                literal.path,
                Level.WARNING,
                "MW402",
                f"a secret is written out in '{'.'.join(map(str, literal.path))}'",
                "put it in the environment, ${VAR}, or in a file, ${file:/run/secrets/name}",
            )
