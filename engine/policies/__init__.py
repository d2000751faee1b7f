"""The optional steps of a request. One file is one policy.

A policy is a module here that defines `SCHEMA`, the JSON Schema of its options, and either
`allowance(options, currency)`, which says what it limits, or `build(options, services)`, which
makes its stage. Nothing else names it. `NEEDS_MODEL = True` puts a stage behind the choice of the
model, and with that behind validation. `read(options)` turns a stage's options into the typed value
that `build` is given. `read` and `allowance` raise ValueError for what a schema cannot say.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from engine.config.model import Policy
from engine.exchange.exchange import Stage
from engine.exchange.services import Services
from engine.values.quota import Rule


@dataclass(frozen=True, slots=True)
class Step:
    """A policy that becomes a stage: its name and its options as typed values."""

    name: str
    options: Any

    def stage(self, services: Services) -> Stage:
        """The stage, for the services of one worker."""
        made: Stage = get(self.name).build(self.options, services)
        return made


@dataclass(frozen=True, slots=True)
class Guards:
    """The policies of a route, compiled: steps before validation, steps behind the choice of the
    model, and limits, each in the order of the config."""

    early: tuple[Step, ...] = ()
    late: tuple[Step, ...] = ()
    rules: tuple[Rule, ...] = ()


@cache
def names() -> list[str]:
    """The policies there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get(name: str) -> Any:
    """The module of that policy, one of `names()`."""
    return importlib.import_module(f"{__name__}.{name}")


def is_limit(name: str) -> bool:
    """Whether that policy limits an amount; the others are stages."""
    return hasattr(get(name), "allowance")


def guards(listed: Sequence[Policy], currency: str) -> Guards:
    """Compile the policies of a route. Their options are of the shape that the schemas ask for;
    ValueError for a value that is wrong all the same."""
    early: list[Step] = []
    late: list[Step] = []
    rules: list[Rule] = []
    for policy in listed:
        module = get(policy.name)
        if is_limit(policy.name):
            rules.append(_rule(policy, module, currency, {rule.name for rule in rules}))
            continue
        options = module.read(policy.options) if hasattr(module, "read") else policy.options
        step = Step(policy.name, options)
        (late if getattr(module, "NEEDS_MODEL", False) else early).append(step)
    return Guards(tuple(early), tuple(late), tuple(rules))


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


def schema() -> dict[str, Any]:
    """The JSON Schema of one entry under `policies`: a policy's name with its options."""
    return {
        "description": "One policy: its name, and its options.",
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {name: get(name).SCHEMA for name in names()},
    }
