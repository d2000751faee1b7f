"""What is right and still unwise: warnings about a plan that has no errors.

A rule is a module in `rules/` that defines `check(case)`; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from engine.offline import rules
from engine.offline.audit_case import Case
from engine.plan.route import PlanResult


def names() -> list[str]:
    """The rules there are."""
    return sorted(module.name for module in pkgutil.iter_modules(rules.__path__))


def audit(planned: PlanResult, environ: Mapping[str, str]) -> None:
    """Note in the plan's findings what is unwise in it; nothing while there are errors."""
    if planned.plan is None:
        return
    case = Case(planned.plan, planned, environ)
    for name in names():
        importlib.import_module(f"{rules.__name__}.{name}").check(case)
