"""Path keys that are not path templates: a query string, `<name>`, a pattern, several segments.

`/v1/messages?beta=true` is served when the query says so, beside `/v1/messages`. `{model=models/*}`
is `models/{model}`, `{name=**}` a variable that may hold slashes, as may a final `{path}`.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from engine.spec import path_templates
from engine.spec.document.node import Node, declared_parameters

_ANGLE = re.compile(r"<([A-Za-z_][A-Za-z0-9_-]*)>")
_PATTERN = re.compile(r"\{([^{}=]+)=([^{}]*)\}")
_LAST = re.compile(r"/\{([^{}/=]+)\}$")


class Address(NamedTuple):
    """The meaning of a path key: a template, its query, and variables that take slashes.

    `repairs` are the words for what was done to it.
    """

    template: str
    query: tuple[tuple[str, str], ...] = ()
    wide: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def read(key: str) -> Address:
    """The address of a path key; `path_templates.check` decides whether it can be served."""
    repairs: list[str] = []
    wide: list[str] = []
    template, mark, query_text = key.partition("?")
    query = tuple(parse_qsl(query_text, keep_blank_values=True)) if mark else ()
    if mark:
        repairs.append(f"a path has no query; it is served for the query '{query_text}'")
    template, angles = _ANGLE.subn(r"{\1}", template)
    if angles:
        repairs.append("a variable stands in braces; '<name>' is read as '{name}'")
    template, patterns = _PATTERN.subn(lambda match: _expanded(match, wide), template)
    if patterns:
        repairs.append(f"a variable cannot have a pattern; it is served as '{template}'")
    return Address(template, query, tuple(wide), tuple(repairs))


def widened(address: Address, operation: Node, item: Node) -> Address:
    """The address of an operation whose last variable takes the rest of the path.

    Kubernetes and GitHub call such a variable `path`; some say `x-multi-segment`.
    """
    last = _LAST.search(address.template)
    if last is None or last[1] in address.wide:
        return address
    several = last[1] in ("path", "filepath", "file_path")
    for parameter in declared_parameters(item, operation):
        if parameter.text("name") == last[1] and parameter.text("in") == "path":
            declaration = parameter.value
            several |= (
                declaration.get("x-multi-segment") is True
                or declaration.get("allowReserved") is True
            )
    if not several:
        return address
    words = f"'{last[1]}' may hold several segments, which OpenAPI has no words for"
    return address._replace(wide=(*address.wide, last[1]), repairs=(*address.repairs, words))


def _expanded(match: re.Match[str], wide: list[str]) -> str:
    """The pattern of a variable as part of the template; each star becomes a variable."""
    name, pattern = match[1], match[2]
    segments: list[str] = []
    for segment in pattern.split("/"):
        if segment not in ("*", "**"):
            segments.append(segment)
            continue
        stars = sum(part.startswith("{") for part in segments)
        numbered_name = f"{name}_{stars + 1}" if stars else name
        if segment == "**":
            wide.append(numbered_name)
        segments.append("{" + numbered_name + "}")
    return "/".join(segments)


def problem(address: Address) -> str | None:
    """The remaining problem of the template, or None."""
    return path_templates.check(address.template)
