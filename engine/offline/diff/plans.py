"""All differences between two plans: each kind of difference is one file in `kinds/`."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from engine.offline.diff import kinds
from engine.offline.diff.difference import Difference, Side, gathered
from engine.plan.route import PlanResult


def between(old: PlanResult, new: PlanResult) -> list[Difference]:
    """The differences, the most severe first, without secrets. Both sides have a plan."""
    before, after = Side.of(old), Side.of(new)

    def redacted(difference: Difference) -> Difference:
        words = before.config.source.redact(after.config.source.redact(difference.words))
        return replace(difference, words=words)

    names = sorted(module.name for module in pkgutil.iter_modules(kinds.__path__))
    modules = [importlib.import_module(f"{kinds.__name__}.{name}") for name in names]
    differences = (
        difference for module in modules for difference in module.differences(before, after)
    )
    return gathered(map(redacted, differences))
