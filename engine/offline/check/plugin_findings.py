"""The findings of `check` about the plug-ins that distributions bring: which are installed, and
which of them cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from engine import credentials, dialects, policies
from engine.plan.plan import PlanResult
from engine.source.problem import Level
from engine.upstream import choose
from engine.values.discovery import HINT
from engine.values.installed_plugins import KINDS, installed_plugins


def note_plugins(plan_result: PlanResult) -> None:
    """Note each distribution with plug-ins as information, and each plug-in that cannot be used as
    a warning; one that the config uses is an error already."""
    config, findings = plan_result.config, plan_result.findings
    if config is None:
        return
    errors = {problem.message for problem in findings.errors}
    for problem in _problems():
        if problem not in errors:
            findings.note(config.source, (), Level.WARNING, "MW113", problem, HINT)
    for owner, plugins in groupby(installed_plugins(), attrgetter("owner")):
        names = ", ".join(f"{plugin.kind} '{plugin.name}'" for plugin in plugins)
        findings.note(config.source, (), Level.INFO, "MW114", f"{owner} brings {names}")


def _problems() -> Iterator[str]:
    for kinds in (policies.KINDS, choose.KINDS, credentials.KINDS, dialects.KINDS):
        yield from kinds.problems.values()
    for plugin in installed_plugins():
        if plugin.group not in KINDS:
            groups = ", ".join(KINDS)
            yield f"{plugin} is in the group '{plugin.group}', which is not one of {groups}"
