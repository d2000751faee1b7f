"""Checks of `require`: every request that may be made has a target in its region.

What a request may reach is what the gateway chooses among: the targets of the model that have the
operation, those of fallbacks included. So a config without an error here proves that no request
leaves its region, whatever fails: a target elsewhere is never chosen, and none is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from engine.config.config import Config
from engine.config.models import TargetConfig
from engine.config.operations_by_model import ModelOperations
from engine.plan.route import Route
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.upstream.models.regional_targets import are_within, region_text
from engine.values.caller import AllowLists, Caller
from engine.values.units import format_names
from engine.values.wildcard import matches

_MAX_NAMED = 8


class _Holder(Struct, frozen=True):
    """Who requires regions: a route alone (`caller` is None), or callers with these rights. `level`
    is that of a model without a target: a route for some hosts need not have all models."""

    subject: str
    at: Path
    lists: AllowLists = ()
    caller: Caller | None = None
    level: Level = Level.ERROR

    @property
    def names(self) -> str:
        """Where the config says which models there are for it."""
        return "`models`" if self.caller is None else f"the `models` of {self.subject}"

    def may_call(self, operation: str) -> bool:
        return self.caller is None or self.caller.may_call(operation)

    def may_use(self, model: str) -> bool:
        """Whether a name that this entry of `models` matches may be allowed."""
        lists = () if self.caller is None else self.caller.model_lists
        return all(any(matches(model, n) or matches(n, model) for n in names) for names in lists)


def check_regions(
    config: Config,
    routes: Sequence[Route],
    operations: Callable[[], ModelOperations],
    findings: Findings,
) -> None:
    """Note each required region that no upstream has, and each requirement that leaves a model, or
    an operation with fixed targets, without a target."""
    _check_names(config, findings)
    holders = [*_holders(config)]
    required = [route for route in routes if route.regions is not None]
    if findings.errors or not (holders or required):
        return
    check = _Check(config, operations(), findings)
    for route in required:
        at = (*route.at[:2], "require")
        level = Level.WARNING if route.hosts else Level.ERROR
        check.run(_Holder("this route", at, level=level), [route])
    for holder in holders:
        check.run(holder, [route for route in routes if holder.may_call(route.operation.id)])


def _check_names(config: Config, findings: Findings) -> None:
    """Note regions that no upstream has."""
    all_regions = {region for upstream in config.upstreams.values() for region in upstream.regions}
    if config.invalid.names:
        return
    for regions, at in _required(config):
        for region in regions:
            if not any(matches(name, region) for name in all_regions):
                hint = did_you_mean(
                    region, all_regions, "write `regions:` at the upstreams that are there"
                )
                message = f"no upstream is in the region '{region}'"
                findings.error(config.source, (*at, "require", "region"), "MW531", message, hint)


def _required(config: Config) -> Iterator[tuple[Sequence[str], Path]]:
    for route in config.routes:
        yield route.regions or (), route.at
    for name, team in config.teams.by_name.items():
        yield team.regions or (), ("teams", name)
    for caller, at in config.callers():
        yield caller.regions or (), at


def _holders(config: Config) -> Iterator[_Holder]:
    """The teams and the tokens that require regions. A token that adds nothing to what its team
    requires is checked with the team."""
    for name in config.teams.by_name:
        member = config.teams.member(Caller("", team=name))
        if member.region_lists:
            yield _Holder(f"team '{name}'", ("teams", name), member.region_lists, member)
    for caller, at in config.callers():
        if caller.regions is not None:
            yield _Holder(f"token '{caller.name}'", at, caller.region_lists, caller)


class _Check:
    """The checks of one config."""

    def __init__(self, config: Config, operations: ModelOperations, findings: Findings) -> None:
        self._config = config
        self._operations = operations
        self._findings = findings
        self._has_target = cache(self._find_target)

    def run(self, holder: _Holder, routes: Sequence[Route]) -> None:
        """Note what these routes cannot serve to a holder."""
        for lists, group in _by_lists(holder, routes).items():
            fixed = [route for route in group if route.to]
            self._check_fixed(holder, lists, fixed)
            ids = {route.operation.id for route in group if route.model is not None}
            self._check_models(holder, lists, frozenset(ids))

    def _check_fixed(self, holder: _Holder, lists: AllowLists, routes: Sequence[Route]) -> None:
        names = [r.operation.id for r in routes if not self._any_within(r.to, lists)]
        if names:
            listed, region = format_names(names, _MAX_NAMED), region_text(lists)
            message = f"{holder.subject} requires {region}, where no target of {listed} is"
            self._note(holder, Level.WARNING, "MW533", message, "such requests are refused: 403")

    def _check_models(self, holder: _Holder, lists: AllowLists, operations: frozenset[str]) -> None:
        models = [name for name in self._config.models if holder.may_use(name)]
        lacking = [name for name in models if not self._has_target(name, lists, operations)]
        for name in lacking[:_MAX_NAMED]:
            region, own = region_text(lists), self._config.models[name].answering
            message = (
                f"{holder.subject} requires {region}, where no target of the model '{name}' is: "
                f"{self._places(own)}"
            )
            hint = f"give the model a target there, or leave it out of {holder.names}"
            self._note(holder, holder.level, "MW532", message, hint)

    def _find_target(self, model: str, lists: AllowLists, operations: frozenset[str]) -> bool:
        """Whether each of the operations that the model has, and that is asked of a target, has a
        target within the regions: its own, one of a fallback or of a rule."""
        table = self._operations
        for operation in table.of(model):
            candidates = (*table.targets(model, operation), *table.rule_targets(model, operation))
            targets = [each.target for each in candidates]
            is_asked = operation.id in operations and targets and not operation.counts
            if is_asked and not self._any_within(targets, lists):
                return False
        return True

    def _any_within(self, targets: Sequence[TargetConfig], lists: AllowLists) -> bool:
        upstreams = self._config.upstreams
        return any(are_within(upstreams[each.upstream].regions, lists) for each in targets)

    def _places(self, targets: Sequence[TargetConfig]) -> str:
        """Where targets are: `openai is in us, azure says no regions`."""
        upstreams = {t.upstream: self._config.upstreams[t.upstream].regions for t in targets}
        parts = [
            f"{name} is in {', '.join(regions)}" if regions else f"{name} has no `regions`"
            for name, regions in upstreams.items()
        ]
        return format_names(parts, _MAX_NAMED)

    def _note(self, holder: _Holder, level: Level, code: str, message: str, hint: str) -> None:
        source = self._config.source
        self._findings.note(source, holder.at, level, code, message, hint, key=True)


def _by_lists(holder: _Holder, routes: Sequence[Route]) -> dict[AllowLists, list[Route]]:
    """The routes by what they and the holder require together."""
    groups: dict[AllowLists, list[Route]] = {}
    for route in routes:
        lists = () if route.regions is None else (route.regions,)
        groups.setdefault((*lists, *holder.lists), []).append(route)
    return groups
