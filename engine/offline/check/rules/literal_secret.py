"""A literal secret in a config file, and so in every copy of it."""

from __future__ import annotations

import re

from engine.config.likely_value import variable
from engine.config.literal_secrets import literals
from engine.offline.check.audit import AuditCase
from engine.source.problem import Level

_NO_SECRET = frozenset({"not-set", "none", "empty", "dummy", "unused", "ollama", "not-needed"})
_MIN_LENGTH = 6
_OF_A_GUIDE = re.compile(r"(?:Bearer )?(?:<[\w -]+>|\{\{.*\}\})")
"""A place to fill in, as guides and templates write it."""


def check(case: AuditCase) -> None:
    for file in case.config_files:
        for literal in literals(file):
            text = file.text[literal.start : literal.end].strip()
            is_short = len(text) < _MIN_LENGTH and not variable(text)
            if is_short or text.lower() in _NO_SECRET:
                continue
            where = ".".join(map(str, literal.path))
            message = f"a secret is written out in '{where}'"
            hint = "put it in the environment, ${VAR}, or in a file, ${file:/run/secrets/name}"
            if (name := variable(text)) or _OF_A_GUIDE.fullmatch(text):
                message = f"'{where}' is the literal text '{text}': no variable is substituted"
                hint = f"write {name or '${VAR}'}; it is substituted when the config is read"
            case.findings.note(file, literal.path, Level.WARNING, "MW402", message, hint)
