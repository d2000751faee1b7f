"""Adds settings to a file that has others, and takes them out again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, MutableMapping
from pathlib import PurePath
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import ParseError

_INDENT = re.compile(r"\{\s*\n([ \t]+)")


class CannotMerge(Exception):
    """The file is not what its name says; `str` says where and why."""


def merged(name: str, text: str, settings: str) -> str:
    """The text of a file of this name with the `settings`, a text of the same kind: JSON or TOML by
    its ending. Members of both are those of the settings. Raises CannotMerge."""
    if not text.strip():
        return settings
    form = _form(name)
    value = form.read(text)
    _update(value, form.read(settings))
    return form.write(value, text)


def reverted(name: str, text: str, before: str, after: str) -> str:
    """The text of a file whose settings became those of `after` from those of `before`, and which
    somebody else has changed since: with the settings of before, but for those that have another
    value now. Raises CannotMerge."""
    form = _form(name)
    value = form.read(text)
    _revert(value, form.read(before), form.read(after))
    return form.write(value, text)


class _Form(NamedTuple):
    """How settings are read and written; what is written looks as the `text` does."""

    read: Callable[[str], MutableMapping[str, Any]]
    write: Callable[[Any, str], str]


def _form(name: str) -> _Form:
    return _FORMS[PurePath(name).suffix]


def _read_json(text: str) -> MutableMapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise CannotMerge(f"it is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CannotMerge("it is not a JSON object")
    return value


def _write_json(value: Any, text: str) -> str:
    indent = _INDENT.match(text)
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False) + end


def _read_toml(text: str) -> MutableMapping[str, Any]:
    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise CannotMerge(f"it is not TOML: {error}") from error


_FORMS = {
    ".json": _Form(_read_json, _write_json),
    ".toml": _Form(_read_toml, lambda value, text: tomlkit.dumps(value)),
}


def _update(value: MutableMapping[str, Any], settings: MutableMapping[str, Any]) -> None:
    """Add the members of the settings, those of an object one by one."""
    for name, member in settings.items():
        present = value.get(name)
        if isinstance(present, MutableMapping) and isinstance(member, MutableMapping):
            _update(present, member)
        else:
            value[name] = member


def _revert(
    value: MutableMapping[str, Any],
    before: MutableMapping[str, Any],
    after: MutableMapping[str, Any],
) -> None:
    """Give the members that differ in `after` their values of before, or take them out."""
    for name, ours in after.items():
        if name not in value or before.get(name) == ours:
            continue
        if isinstance(ours, MutableMapping) and isinstance(value[name], MutableMapping):
            inner = before.get(name)
            _revert(value[name], inner if isinstance(inner, MutableMapping) else {}, ours)
            if not value[name] and name not in before:
                del value[name]
        elif value[name] == ours and name in before:
            value[name] = before[name]
        elif value[name] == ours:
            del value[name]
