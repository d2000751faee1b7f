"""Every setting of a config in effect, by its path in gateway.yaml: defaults are filled in."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from engine.offline.diff.difference import Side
from engine.source.problem import Path
from engine.telemetry.access_log import FIELDS
from engine.upstream.client.client import Timeouts

_SQLITE = "sqlite:///"
_USUAL_FIELDS = tuple(name for name in FIELDS if name != "query")

UNSET = frozenset({"source", "folder", "broken", "at", "name"})
"""Fields of the config that are no settings."""

KEYS: Mapping[str, str] = {
    "origins": "cors.origins",
    "telemetry.traces.url": "telemetry.traces.endpoint",
    "upstreams.*.credentials": "upstreams.*.credential",
    "prices.*.cached": "prices.*.cached_input",
    "routes.*.model": "routes.*.model.from",
    "routes.*.default_model": "routes.*.model.default",
    "routes.*.also": "routes.*.model.also",
    "routes.*.public": "routes.*.auth",
    "tokens.*.limits": "tokens.*.rate",
}
"""Fields of the config whose key in gateway.yaml has another name."""


class Setting(NamedTuple):
    """A value, the path of its rule, what it belongs to, and where it stands in the config."""

    value: Any
    pattern: str
    subject: str
    at: Path


def settings(side: Side) -> dict[Path, Setting]:
    """All settings of a config, by the names that lead to them."""
    config = side.config
    found: dict[Path, Setting] = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if field.name in UNSET or field.name in ("policies", "routes", "tokens"):
            continue  # these are compared as they come to, operation by operation, by name
        if isinstance(value, Mapping):
            for name, entry in value.items():
                subject = f"{field.name.rstrip('s')} {name}"
                found |= _below(side, entry, (field.name, "*"), (field.name, name), subject)
        else:
            found |= _below(side, value, (field.name,), (field.name,), field.name)
    for name, route in side.routes.items():
        said = config.routes[int(route.at[1])]
        said = dataclasses.replace(said, websocket=route.websocket)
        at, under = ("routes", route.at[1]), ("routes", "*")
        found |= _below(side, said, under, at, name, key=("routes", name))
    return found


def _below(
    side: Side, value: Any, pattern: Path, at: Path, subject: str, key: Path | None = None
) -> dict[Path, Setting]:
    """A value's own setting, or those of its fields."""
    key = at if key is None else key
    known = ".".join(map(str, pattern))
    if known in KEYS:
        steps = KEYS[known].split(".")
        at = (*at[: len(pattern) - 1], *steps[len(pattern) - 1 :]) if "*" in steps else tuple(steps)
        known = KEYS[known]
        subject = subject if "*" in steps else steps[0]
    found = {key: Setting(_comparable(value, known, side), known, subject, at)}
    for name, below in _fields(value, known):
        found |= _below(side, below, (*pattern, name), (*at, name), subject, (*key, name))
    return found


def _fields(value: Any, pattern: str) -> Iterator[tuple[str, Any]]:
    if pattern == "upstreams.*.timeouts":
        yield from Timeouts(**value)._asdict().items()
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.init and field.name not in UNSET:
                yield field.name, getattr(value, field.name)


def _comparable(value: Any, pattern: str, side: Side) -> Any:
    """A value that is equal for configs that come to the same: paths are from the config's folder,
    a mapping of settings only says that it is there."""
    if dataclasses.is_dataclass(value) or pattern == "upstreams.*.timeouts":
        return "on"
    if pattern == "telemetry.access_log.fields":
        return value or _USUAL_FIELDS
    if isinstance(value, FilePath):
        value = str(value)
    if isinstance(value, str):
        scheme = _SQLITE if value.startswith(_SQLITE) else ""
        folder = f"{scheme}{side.config.folder}/"
        if value.startswith(folder):
            return value.removeprefix(folder)
    return value
