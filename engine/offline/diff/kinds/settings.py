"""Every key of gateway.yaml that no other kind compares: the rules are in `../levels.py`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from engine.config.config import Config
from engine.config.stores import SQLITE
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.levels import rule_of
from engine.source.problem import Path
from engine.telemetry.access_log import FIELDS
from engine.upstream.client.deadlines import Timeouts

_USUAL_FIELDS = tuple(name for name in FIELDS if name != "query")
NOT_SETTINGS = frozenset(
    {"source", "folder", "overlays", "invalid", "at", "name", "has_body", "permissions"}
)
"""Fields of the config that are not settings."""
_BY_KIND = frozenset({"policies", "routes", "tokens", "teams"})


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


class Setting(NamedTuple):
    """A value, the pattern of its rule, the `subject` that it belongs to, and its path."""

    value: Any
    pattern: str
    subject: str
    at: Path


def settings(side: Side) -> dict[Path, Setting]:
    """All settings of a config, by a path that is equal in both configs."""
    config = side.config
    result: dict[Path, Setting] = {}
    for field, keys in fields_of(Config):
        value = getattr(config, field)
        if field in NOT_SETTINGS or field in _BY_KIND:
            continue  # these are compared in effect: operation by operation, token by token
        if isinstance(value, Mapping):
            for name, entry in value.items():
                subject = f"{field.rstrip('s')} {name}"
                result |= _below(side, entry, (*keys, "*"), (*keys, name), subject)
        else:
            result |= _below(side, value, keys, keys, str(keys[0]))
    for name, route in side.routes.items():
        index = route.at[1]
        entry = replace(config.routes[int(index)], websocket=route.websocket)
        at = ("routes", index)
        result |= _below(side, entry, ("routes", "*"), at, name, identity=("routes", name))
    return result


def is_section(kind: object) -> bool:
    """Whether a type is that of a section of the config: a struct, or a dataclass if it has
    attributes besides its keys, or some that are not shown."""
    return isinstance(kind, type) and (issubclass(kind, Struct) or dataclasses.is_dataclass(kind))


def fields_of(section: type[Any]) -> Iterator[tuple[str, Path]]:
    """The fields of a section, and the keys of each in gateway.yaml, from the section down: its
    `name` (`key` in the metadata of a dataclass), or that of the attribute."""
    names: Iterable[tuple[str, str]]
    if issubclass(section, Struct):
        names = zip(section.__struct_fields__, section.__struct_encode_fields__, strict=True)
    else:
        fields = (each for each in dataclasses.fields(section) if each.init)
        names = ((each.name, each.metadata.get("key", each.name)) for each in fields)
    for field, name in names:
        yield field, tuple(name.split("."))


def _below(
    side: Side, value: object, pattern: Path, at: Path, subject: str, identity: Path | None = None
) -> dict[Path, Setting]:
    """The setting of a value, and those of its fields, by `identity`, which is equal in both
    configs.
    """
    identity = at if identity is None else identity
    name = ".".join(map(str, pattern))
    result = {identity: Setting(_comparable(value, name, side), name, subject, at)}
    for keys, below in _fields(value, name):
        result |= _below(side, below, (*pattern, *keys), (*at, *keys), subject, (*identity, *keys))
    return result


def _fields(value: Any, pattern: str) -> Iterator[tuple[Path, object]]:
    if pattern == "upstreams.*.timeouts":
        yield from (((name,), seconds) for name, seconds in Timeouts(**value)._asdict().items())
    elif is_section(type(value)):
        for field, keys in fields_of(type(value)):
            if field not in NOT_SETTINGS:
                yield keys, getattr(value, field)


def _comparable(value: object, pattern: str, side: Side) -> object:
    """The value in a form that is equal for configs of equal effect.

    A path is relative to the folder of the config; a mapping of settings is `on`.
    """
    if is_section(type(value)) or pattern == "upstreams.*.timeouts":
        return "on"
    if pattern == "tags" and isinstance(value, tuple):
        return tuple(map(str, value))
    if pattern == "telemetry.access_log.fields":
        return value or _USUAL_FIELDS
    if isinstance(value, FilePath):
        value = str(value)
    if isinstance(value, str):
        scheme = SQLITE if value.startswith(SQLITE) else ""
        folder = f"{scheme}{side.config.folder}/"
        if value.startswith(folder):
            return value.removeprefix(folder)
    return value
