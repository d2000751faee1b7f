"""Path keys that are not path templates: a query string, a fragment, `<name>`, a pattern, several
segments, the variables of routers and of RFC 6570.

`/v1/messages?beta=true` is served for requests with this query, in addition to `/v1/messages`. A
fragment only makes a key unique: no request has one, so `/chat#stream` is served as `/chat`, and so
are `/chat - with tools` and `/chat `. A variable in the query, `/chat?user={user}`, only names a
parameter of the query.
`{model=models/*}` is read as `models/{model}`; `{name=**}` and a final `{path}` are variables that
may contain slashes, and so are `{proxy+}`, `{+path}` and `{*path}`.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters

_ANGLE = re.compile(r"<([A-Za-z_][A-Za-z0-9_-]*)>")
_PATTERN = re.compile(r"\{([^{}=]+)=([^{}]*)\}")
_NOTE = re.compile(r" +- [^/{}]*$| +$")
_QUERY = re.compile(r"\{[?&][\w.*,%-]+\}")
_QUERY_VARIABLE = re.compile(r"[^=]*=\{[^{}]*\}")
_VARIABLE = re.compile(
    r"\{(\+|\*\*?|[.;])?([A-Za-z_][\w.-]*)([+*]|:[^{}]*(?:\{\d+(?:,\d*)?\}[^{}]*)*)?\}"
)
"""A variable of API Gateway (`{proxy+}`), of a router (`{*path}`, `{id:[0-9]+}`) or of RFC 6570
(`{+path}`, `{.format}`, `{;matrix*}`). A name with a colon may be the parameter's own."""
_EXPRESSION = re.compile(r"[\\\[\](){}.*+^$|?]")
_RESTS = ("path", "filepath", "file_path")
_VARIABLES = re.compile(r"\{[^{}]*\}")
_LAST = re.compile(r"/\{([^{}/=]+)\}$")


class Address(NamedTuple):
    """The meaning of a path key: a template, its query, and the variables that may have slashes.

    `repairs` are messages about the changes to the key.
    """

    template: str
    query: tuple[tuple[str, str], ...] = ()
    slash_variables: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def read(key: str) -> Address:
    """The address of a path key; `path_templates.check` decides whether it can be served."""
    repairs: list[str] = []
    slash_variables: list[str] = []
    address, hash_mark, _ = key.partition("#")
    if hash_mark:
        repairs.append(f"a path has no fragment; it is served as '{address}'")
    address, notes = _NOTE.subn("", address)
    if notes:
        repairs.append(f"a path has no words behind it; it is served as '{address}'")
    address, queries = _QUERY.subn("", address)
    if queries:
        repairs.append(f"a path has no list of query parameters; it is served as '{address}'")
    plain = _VARIABLE.sub(lambda match: _plain_variable(match, slash_variables), address)
    if plain != address:
        address = plain
        repairs.append(f"a variable is a plain name in braces; it is served as '{address}'")
    template, mark, query_text = address.partition("?")
    fixed = "&".join(pair for pair in query_text.split("&") if not _QUERY_VARIABLE.fullmatch(pair))
    query = tuple(parse_qsl(fixed, keep_blank_values=True)) if mark else ()
    if fixed:
        repairs.append(f"a path has no query; it is served for the query '{fixed}'")
    elif mark:
        repairs.append(f"a path has no query; it is served as '{template}'")
    template, angles = _ANGLE.subn(r"{\1}", template)
    if angles:
        repairs.append("a variable needs braces; '<name>' is read as '{name}'")
    template, patterns = _PATTERN.subn(lambda match: _expand(match, slash_variables), template)
    if patterns:
        repairs.append(f"a variable cannot have a pattern; it is served as '{template}'")
    return Address(template, query, tuple(slash_variables), tuple(repairs))


def add_slash_variable(address: Address, operation: Node, item: Node) -> Address:
    """The address, with its last variable among those that may have slashes if the operation means
    the rest of the path by it.

    Kubernetes and GitHub call such a variable `path`, others `file_path` or `attributePath`, or
    they mark it with `x-multi-segment`. `{careerPath}` above `/paths/{careerPath}/steps` is one
    segment: with more it would serve paths of operations that no route serves.
    """
    last = _LAST.search(address.template)
    if last is None or last[1] in address.slash_variables:
        return address
    several = last[1] in _RESTS or (
        last[1].lower().endswith("path") and not _has_paths_below(address, item)
    )
    for parameter in declared_parameters(item, operation):
        if parameter.text("name") == last[1] and parameter.text("in") == "path":
            declaration = parameter.value
            several |= (
                declaration.get("x-multi-segment") is True
                or declaration.get("allowReserved") is True
            )
    if not several:
        return address
    message = f"'{last[1]}' may have several segments, which OpenAPI cannot express"
    return address._replace(
        slash_variables=(*address.slash_variables, last[1]), repairs=(*address.repairs, message)
    )


def _has_paths_below(address: Address, item: Node) -> bool:
    """Whether the document has paths that are longer than this one and begin like it."""
    below = _VARIABLES.sub("{}", address.template) + "/"
    keys = item.library.document.get("paths").value
    return any(_VARIABLES.sub("{}", str(key)).startswith(below) for key in keys)


def _plain_variable(match: re.Match[str], slash_variables: list[str]) -> str:
    """The variable with nothing but its name."""
    before, name, after = match.groups(default="")
    if after.startswith(":") and not _EXPRESSION.search(after):
        return match[0]
    if before in ("+", "*", "**") or after == "+":
        slash_variables.append(name)
    return "{" + name + "}"


def _expand(match: re.Match[str], slash_variables: list[str]) -> str:
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
            slash_variables.append(numbered_name)
        segments.append("{" + numbered_name + "}")
    return "/".join(segments)


def problem(address: Address) -> path_templates.Fault | None:
    """The remaining problem of the template, or None."""
    return path_templates.check(address.template)
