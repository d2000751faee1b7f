"""The targets in the regions that a route, a token and its teams require, and the law of regions.

Whatever is sent to a target is chosen among those of its request: attempts, fallbacks, hedges,
counts of tokens. So a target elsewhere is left out before anything is chosen. Health checks carry
nothing of a caller, and go to all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from engine.exchange.exchange import Exchange
from engine.upstream.models.model_catalog import ServedModel
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from engine.values.caller import AllowLists, Caller
from engine.values.errors import GatewayError
from engine.values.wildcard import matches


class RegionalModels:
    """The models of an operation with the targets in the regions that the route requires
    (`lists`), and those that the caller does. `may_lack`: without a target, the gateway answers
    itself. What was chosen once is remembered: a config has few different requirements."""

    def __init__(self, lists: AllowLists, *, may_lack: bool) -> None:
        self._lists = lists
        self._may_lack = may_lack
        # By identity: the targets of a rule have the name of its model.
        self._models: dict[tuple[int, AllowLists], ServedModel] = {}

    def of(self, model: ServedModel, caller: Caller | None) -> ServedModel:
        """The model for requests of a caller. Raises GatewayError 403 without a target."""
        lists = _joined(self._lists, caller)
        if not lists:
            return model
        key = id(model), lists
        if key not in self._models:
            groups = (_within(group, lists) for group in model.groups)
            self._models[key] = replace(model, groups=tuple(group for group in groups if group))
        chosen = self._models[key]
        if model.groups and not chosen.groups and not self._may_lack:
            raise _elsewhere(f"The model '{model.name}'", lists)
        return chosen


class RegionalGroup:
    """The fixed targets of a route, as RegionalModels has those of models."""

    def __init__(self, group: TargetGroup, lists: AllowLists) -> None:
        self._group = group
        self._lists = lists
        self._groups: dict[AllowLists, TargetGroup] = {}

    def order(self, exchange: Exchange) -> Sequence[Target]:
        """The targets for a request, in the order of attempts. Raises GatewayError 403 without
        one."""
        lists = _joined(self._lists, exchange.caller)
        if not lists:
            return self._group.order(exchange)
        if lists not in self._groups:
            self._groups[lists] = _within(self._group, lists)
        group = self._groups[lists]
        if not group:
            raise _elsewhere(exchange.operation, lists)
        return group.order(exchange)


def _joined(lists: AllowLists, caller: Caller | None) -> AllowLists:
    """What a route and a caller require together."""
    return lists if caller is None or not caller.region_lists else (*lists, *caller.region_lists)


def _within(group: TargetGroup, lists: AllowLists) -> TargetGroup:
    return group.of([t for t in group.configured if are_within(t.upstream.regions, lists)])


def _elsewhere(subject: str, lists: AllowLists) -> GatewayError:
    message = f"{subject} is not served in the region that is required: {region_text(lists)}."
    return GatewayError(403, "region_not_allowed", message)


def are_within(regions: Iterable[str], lists: AllowLists) -> bool:
    """Whether an upstream with these regions may get a request: each of them must match an entry of
    each list. An upstream without regions may process a request anywhere, so it may not."""
    names = tuple(regions)
    return bool(names) and all(
        any(matches(name, entry) for entry in allowed) for allowed in lists for name in names
    )


def region_text(lists: AllowLists) -> str:
    """The required regions for a sentence: `eu or ch`."""
    return " and ".join(" or ".join(allowed) for allowed in lists)
