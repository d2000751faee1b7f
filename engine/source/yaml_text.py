"""Writing values as YAML text that YAML 1.1 and 1.2 readers understand alike."""

from __future__ import annotations

import re
from math import inf
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_/][\w./@+-]*(?: [\w./@+-]+)*", re.ASCII)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Strings that a YAML 1.1 reader takes for a boolean or null."""
_SPECIAL = {None: "null", inf: ".inf", -inf: "-.inf"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def flow(value: Any) -> str:
    """A value on one line: `{a: [1, "b c: d"]}`."""
    if isinstance(value, dict):
        entries = (f"{string(str(name))}: {flow(entry)}" for name, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    return scalar(value)


def scalar(value: Any) -> str:
    """A string, number, boolean or null."""
    if isinstance(value, str):
        return string(value)
    words = {True: "true", False: "false"} if isinstance(value, bool) else _SPECIAL
    return words.get(value) or repr(value).replace("nan", ".nan")


def string(text: str) -> str:
    """A string, or the name of a key: in double quotes unless it is plain words."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if char.isprintable():
        return char
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
