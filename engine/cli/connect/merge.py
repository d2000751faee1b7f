"""Adds settings to a file that has others, and takes them out again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import PurePath
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

_INDENT = re.compile(r"\{\s*\n([ \t]+)")


class CannotMerge(Exception):
    """The file is not what its name says; `str` says where and why."""


def merge(name: str, text: str, settings: str) -> str:
    """The text of a file of this name with the `settings`, a text of the same kind: JSON or TOML by
    its ending. Members of both are those of the settings. Raises CannotMerge, also for a file of
    another kind that has a text: it belongs to its agent alone."""
    if not text.strip() or text == settings:
        return settings
    if not has_settings(name):
        raise CannotMerge("it has other settings, and only JSON and TOML can be joined")
    form = _form(name)

    def change(read: _Read) -> MutableMapping[str, Any]:
        value = read(text)
        _add_members(value, read(settings))
        return value

    return _apply(form, text, change)


def has_settings(name: str) -> bool:
    """Whether a file of this name can be read here."""
    return PurePath(name).suffix in _FORMS


def revert(name: str, text: str, before: str, after: str) -> str:
    """The text of a file whose settings became those of `after` from those of `before`, and which
    somebody else has changed since: with the settings of before, but for those that have another
    value now. Raises CannotMerge."""
    form = _form(name)

    def change(read: _Read) -> MutableMapping[str, Any]:
        value = read(text)
        _take_out(value, read(before), read(after))
        return value

    return _apply(form, text, change)


_Read = Callable[[str], MutableMapping[str, Any]]


class _Form(NamedTuple):
    """How settings are read and written; what is written looks as the `text` does. `plain` reads
    them without their comments and order."""

    read: _Read
    write: Callable[[Any, str], str]
    plain: _Read


def _apply(form: _Form, text: str, change: Callable[[_Read], MutableMapping[str, Any]]) -> str:
    """A text whose settings are changed. `change` gets the function that reads them.

    Where a file has dotted keys, tomlkit moves members into another table, or fails with an error
    of its own lists: what was written has to be what the same change makes of plain values.
    """
    try:
        result = form.write(change(form.read), text)
        result.encode("utf-8")  # JSON may have half of a character
        is_right = form.plain(result) == change(form.plain)
    except (TOMLKitError, ValueError, LookupError, RecursionError) as error:
        raise CannotMerge(f"its settings cannot be changed: {error}") from error
    if not is_right:
        raise CannotMerge("its settings cannot be changed without others: write tables, no a.b = c")
    return result


def _form(name: str) -> _Form:
    return _FORMS[PurePath(name).suffix]


def _read_json(text: str) -> MutableMapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"it is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CannotMerge("it is not a JSON object")
    return value


def _write_json(value: Any, text: str) -> str:
    indent = _INDENT.match(text)
    end = "\n" if text.endswith("\n") else ""
    result = json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False) + end
    return result.replace("\n", "\r\n") if "\r\n" in text else result


def _read_toml(text: str) -> MutableMapping[str, Any]:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise CannotMerge(f"it is not TOML: {error}") from error


_FORMS = {
    ".json": _Form(_read_json, _write_json, _read_json),
    ".toml": _Form(_read_toml, lambda value, text: tomlkit.dumps(value), tomllib.loads),
}


def _add_members(value: MutableMapping[str, Any], settings: MutableMapping[str, Any]) -> None:
    """Add the members of the settings, those of an object one by one."""
    for name, member in settings.items():
        present = value.get(name)
        if isinstance(present, MutableMapping) and isinstance(member, MutableMapping):
            _add_members(present, member)
        else:
            value[name] = member


def _take_out(
    value: MutableMapping[str, Any],
    before: MutableMapping[str, Any],
    after: MutableMapping[str, Any],
) -> None:
    """Give the members that differ in `after` their values of before, or take them out."""
    for name, ours in after.items():
        if name not in value or before.get(name) == ours:
            continue
        if isinstance(ours, MutableMapping) and isinstance(value[name], MutableMapping):
            inner = before.get(name, {})
            _take_out(value[name], inner if isinstance(inner, MutableMapping) else {}, ours)
            if not value[name] and name not in before:
                del value[name]
            elif not value[name]:
                value[name] = inner
        elif value[name] == ours and name in before:
            value[name] = before[name]
        elif value[name] == ours:
            del value[name]
