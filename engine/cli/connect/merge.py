"""Adds settings to a file that has others."""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping
from pathlib import PurePath
from typing import Any

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
    merge = {".json": _merged_json, ".toml": _merged_toml}[PurePath(name).suffix]
    return merge(text, settings)


def _merged_json(text: str, settings: str) -> str:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CannotMerge(f"it is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CannotMerge("it is not a JSON object")
    _update(value, json.loads(settings))
    indent = _INDENT.match(text)
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False) + end


def _merged_toml(text: str, settings: str) -> str:
    try:
        document = tomlkit.parse(text)
    except ParseError as error:
        raise CannotMerge(f"it is not TOML: {error}") from error
    _update(document, tomlkit.parse(settings))
    return tomlkit.dumps(document)


def _update(value: MutableMapping[str, Any], settings: MutableMapping[str, Any]) -> None:
    """Add the members of the settings, those of an object one by one."""
    for name, member in settings.items():
        present = value.get(name)
        if isinstance(present, MutableMapping) and isinstance(member, MutableMapping):
            _update(present, member)
        else:
            value[name] = member
