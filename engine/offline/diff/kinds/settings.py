"""Every key of gateway.yaml that no other kind compares: the rules are in `../levels.py`."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.levels import rule_of
from engine.offline.diff.settings import settings


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before = settings(old)
    for path, (now, pattern, subject, at) in settings(new).items():
        if path not in before or before[path].value == now:
            continue  # a name that only one side has is another kind of difference
        rule = rule_of(pattern)
        if rule.level is None:
            continue
        was = before[path].value
        level = rule.level(was, now)
        kind = rule.kind or _kind(pattern)
        if level is Effect.WEAKER and rule.weaker:
            kind = rule.weaker
        message = rule.message(_key(pattern), was, now)
        yield Difference(level, kind, new.place(at), (subject,), message)


def _key(pattern: str) -> str:
    """The key within its section or entry: `access_log.format`."""
    steps = pattern.split(".")
    return ".".join(steps[2:] if "*" in steps else steps[1:] or steps)


def _kind(pattern: str) -> str:
    return pattern.replace(".*", "").replace(".", "-").replace("_", "-")
