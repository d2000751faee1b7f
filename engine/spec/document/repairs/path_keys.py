"""Path keys that are no path templates: a query string, `<name>`, a pattern, several segments.

`/v1/messages?beta=true` is served when the query says so, beside `/v1/messages`. `{model=models/*}`
is `models/{model}`, `{name=**}` a variable that may hold slashes, as may a final `{path}`.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from engine.spec import path_templates
from engine.spec.document.node import Node

_ANGLE = re.compile(r"<([A-Za-z_][A-Za-z0-9_-]*)>")
_PATTERN = re.compile(r"\{([^{}=]+)=([^{}]*)\}")
_LAST = re.compile(r"/\{([^{}/=]+)\}$")


class Address(NamedTuple):
    """What a path key means: a template, the query it asks for, variables that take slashes.

    `mends` are the words for what was done to it.
    """

    template: str
    query: tuple[tuple[str, str], ...] = ()
    wide: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()


def read(key: str) -> Address:
    """The address that a path key stands for; `paths.check` tells whether it can be served."""
    mends: list[str] = []
    wide: list[str] = []
    template, mark, said = key.partition("?")
    query = tuple(parse_qsl(said, keep_blank_values=True)) if mark else ()
    if mark:
        mends.append(f"a path has no query; it is served where the query says '{said}'")
    template, angles = _ANGLE.subn(r"{\1}", template)
    if angles:
        mends.append("a variable stands in braces; '<name>' is read as '{name}'")
    template, patterns = _PATTERN.subn(lambda match: _expanded(match, wide), template)
    if patterns:
        mends.append(f"a variable has no pattern of its own; it is served as '{template}'")
    return Address(template, query, tuple(wide), tuple(mends))


def widened(address: Address, operation: Node, item: Node) -> Address:
    """The address of an operation whose last variable takes the rest of the path.

    Kubernetes and GitHub call such a variable `path`; some say `x-multi-segment`.
    """
    last = _LAST.search(address.template)
    if last is None or last[1] in address.wide:
        return address
    several = last[1] in ("path", "filepath", "file_path")
    for parameter in (*item.get("parameters").elements(), *operation.get("parameters").elements()):
        if parameter.text("name") == last[1] and parameter.text("in") == "path":
            said = parameter.value
            several |= said.get("x-multi-segment") is True or said.get("allowReserved") is True
    if not several:
        return address
    words = f"'{last[1]}' may hold several segments, which OpenAPI has no words for"
    return address._replace(wide=(*address.wide, last[1]), mends=(*address.mends, words))


def _expanded(match: re.Match[str], wide: list[str]) -> str:
    """The pattern of a variable as part of the template: its stars are the variables."""
    name, pattern = match[1], match[2]
    made: list[str] = []
    for segment in pattern.split("/"):
        if segment not in ("*", "**"):
            made.append(segment)
            continue
        stars = sum(part.startswith("{") for part in made)
        own = f"{name}_{stars + 1}" if stars else name
        if segment == "**":
            wide.append(own)
        made.append("{" + own + "}")
    return "/".join(made)


def problem(address: Address) -> str | None:
    """What is still wrong with the template, in words, or None."""
    return path_templates.check(address.template)
