"""The optional steps of a request's way. One file, one policy.

A policy is a module here that defines `SCHEMA`, the JSON Schema of its options, and one of
`build(options, services)`, which makes its stage, and `allowance(options, currency)`, which says
what it limits; nothing else names it. `NEEDS_MODEL = True` puts a stage behind the choice of the
model, and with that behind validation. `check(options)` may raise ValueError for what a schema
cannot say.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from engine.allowance import Rule
from engine.config.model import Policy
from engine.exchange import Stage
from engine.services import Services


@cache
def names() -> list[str]:
    """The policies there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get(name: str) -> Any:
    """The module of that policy, one of `names()`."""
    return importlib.import_module(f"{__name__}.{name}")


def stages_of(
    listed: Sequence[Policy], services: Services
) -> tuple[list[Stage], list[Stage], list[Rule]]:
    """What policies come to: stages before validation, stages behind the choice of the model, and
    limits, all in their order."""
    early: list[Stage] = []
    late: list[Stage] = []
    rules: list[Rule] = []
    for policy in listed:
        module = get(policy.name)
        if hasattr(module, "allowance"):
            rules.append(_rule(policy, module, services.currency, {rule.name for rule in rules}))
        else:
            stage = module.build(policy.options, services)
            (late if getattr(module, "NEEDS_MODEL", False) else early).append(stage)
    return early, late, rules


def _rule(policy: Policy, module: Any, currency: str, taken: set[str]) -> Rule:
    """A limit, named so that it counts on when the config is read anew, wherever it stands there.

    Policies for other operations count for themselves.
    """
    allowance = module.allowance(policy.options, currency)
    by = policy.options.get("by", "token")
    group = sha256(policy.group.encode()).hexdigest()[:12] if policy.group else ""
    name = f"{policy.name}/{by}/{allowance.window:g}/{group}"
    while name in taken:
        name += "+"
    return Rule(allowance, by, name)
