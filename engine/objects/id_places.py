"""Places of ids in requests and responses, as documents name them.

`path.NAME`, `query.NAME`, `header.NAME`, `body#/a/*/b`, `message#/a/b` (each message of a
WebSocket, in that direction), and in responses also `event#/a/b` (each event of a stream) and
`lines#/a/b` (each line of JSON Lines). In a pointer `*` is every member or item, `**` this value
and all below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from engine.values.http_names import HEADER_NAME
from engine.values.json_pointer import path_of
from engine.values.json_spans import JsonPath
from engine.values.trees import entries_of

ANY = "*"
ANY_DEPTH = "**"

REQUEST = ("path", "query", "header", "body", "message")
RESPONSE = ("header", "body", "event", "lines", "message")

_TEXT = re.compile(
    r"(?P<pointer>body|event|lines|message)#(?P<steps>(?:/[^/]*)+)"
    rf"|(?P<location>path|query)\.(?P<name>.+)|header\.(?P<header>{HEADER_NAME})"
)
_KEYS = {"at", "prefix", "after", "address", "bearer", "pass", "hosts", "starts"}
_WORD = re.compile(r"(?<=[a-z0-9])([A-Z])")
_VARIABLE = re.compile(r"\{([^{}]+)\}")

JsonName = Callable[[str], str]


class BadPlace(ValueError):
    """A place cannot be read; the text says why, for the author of the document."""


class IdPlace(Struct, frozen=True):
    """A place of ids of a `kind`: `location` is a word of REQUEST or RESPONSE, `steps` are a name,
    or those of a pointer.

    `prefix` is what the value lacks in front of the vendor's id; it may have variables of the path.
    With `after` the value is a URL, and the id is the segment behind the last of that text; on
    other `hosts` (with `*` for any text) it is none, if any are given; a path is that of any.
    `address`: the URL comes back through the gateway. `bearer`: on a route without authentication
    the request is its owner's, whoever sends it.
    `words` are values that are no ids, and so are those that do not begin with `starts`.
    """

    text: str
    kind: str
    location: str
    steps: tuple[str, ...]
    prefix: str = ""
    after: str = ""
    address: bool = False
    bearer: bool = False
    words: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    starts: str = ""

    def split(self, value: str) -> tuple[str, str, str] | None:
        """What stands before the id in a value, the id without the prefix, and what stands behind
        it; None for a value without an id."""
        if not value or value in self.words or not value.startswith(self.starts):
            return None
        if not self.after:
            return "", value, ""
        if self.hosts and "%" in value:
            value = unquote(value)  # as its host does
        before, name, rest = value.rpartition(self.after)
        if not name or not rest:
            return None
        if self.hosts and not self._is_at_host(value):
            return None
        end = re.search(r"[/:?#&]", rest)
        at = len(rest) if end is None else end.start()
        return (before + name, rest[:at], rest[at:]) if at else None

    def _is_at_host(self, url: str) -> bool:
        """Whether a URL is at one of the hosts; a path is at any."""
        host = _host(url)
        return not host or any(fnmatchcase(host, pattern) for pattern in self.hosts)

    def full_prefix(self, variable: Callable[[str], str]) -> str:
        """The prefix with the variables of a path."""
        if "{" not in self.prefix:
            return self.prefix
        return _VARIABLE.sub(lambda match: variable(match[1]), self.prefix)


def _host(url: str) -> str:
    """The host of a URL; "" for a path, and for what is none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return ""
    return (host or "").rstrip(".")


def read_place(kind: str, value: object, locations: Sequence[str]) -> IdPlace:
    """A place of a document. Raises BadPlace."""
    options: Mapping[str, Any] = value if isinstance(value, dict) else {"at": value}
    text = options.get("at")
    if not isinstance(text, str):
        raise BadPlace("a place is a text such as body#/id, or a mapping with 'at'")
    if unknown := sorted(set(map(str, options)) - _KEYS):
        raise BadPlace(f"'{unknown[0]}' is not known; a place has {', '.join(sorted(_KEYS))}")
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadPlace(
            f"'{text}' is not a place; write body#/id, path.NAME, query.NAME or header.NAME"
        )
    location = match["pointer"] or match["location"] or "header"
    if location not in locations:
        raise BadPlace(f"'{text}' cannot be here; places here are of {', '.join(locations)}")
    if match["pointer"]:
        steps = path_of(match["steps"])
    else:
        steps = (match["name"] or match["header"],)
    prefix, after = _text_of(options, "prefix"), _text_of(options, "after")
    address = options.get("address", False)
    if not isinstance(address, bool) or (address and not after):
        raise BadPlace("'address' is true or false, and needs 'after'")
    bearer = options.get("bearer", False)
    if not isinstance(bearer, bool) or (bearer and locations is not REQUEST):
        raise BadPlace("'bearer' is true or false, at a place of requests")
    return IdPlace(
        *(text, kind, location, steps, prefix, after, address, bearer),
        words=frozenset(_texts_of(options, "pass")),
        hosts=frozenset(_texts_of(options, "hosts")),
        starts=_text_of(options, "starts"),
    )


def _text_of(options: Mapping[str, Any], key: str) -> str:
    value = options.get(key, "")
    if not isinstance(value, str):
        raise BadPlace(f"'{key}' is a text")
    return value


def _texts_of(options: Mapping[str, Any], key: str) -> list[str]:
    values = options.get(key, [])
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise BadPlace(f"'{key}' is a list of texts")
    return values


def find(value: Any, steps: Sequence[str], json_name: JsonName | None = None) -> list[JsonPath]:
    """The paths of the values at a place, each once."""
    paths: dict[JsonPath, None] = {}
    stack: list[tuple[Any, JsonPath, int]] = [(value, (), 0)]
    while stack:
        node, path, at = stack.pop()
        if at == len(steps):
            paths[path] = None
            continue
        step = steps[at]
        if step == ANY_DEPTH:
            stack.append((node, path, at + 1))
            stack += [(child, (*path, key), at) for key, child in entries_of(node)]
        elif step == ANY:
            stack += [(child, (*path, key), at + 1) for key, child in items_of(node, steps, at)]
        elif isinstance(node, dict):
            stack += [(node[key], (*path, key), at + 1) for key in _names(step, node, json_name)]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            stack.append((node[int(step)], (*path, int(step)), at + 1))
    return [*paths]


def items_of(node: Any, steps: Sequence[str], at: int) -> Iterable[tuple[Any, Any]]:
    """The entries for which the `*` at an index of a place stands. At the end of a place under `**`
    they are those of a list: an object there may be the schema of an argument with such a name."""
    if isinstance(node, dict) and at + 1 == len(steps) and ANY_DEPTH in steps:
        return ()
    return entries_of(node)


def _names(step: str, node: Mapping[str, Any], json_name: JsonName | None) -> list[str]:
    """The names that an object has for a step, in an API whose members may have two spellings."""
    if json_name is None:
        return [step] if step in node else []
    return [name for name in spellings(step, json_name) if name in node]


def spellings(step: str, json_name: JsonName | None) -> list[str]:
    """The spellings of a member's name."""
    if json_name is None:
        return [step]
    other = json_name(step)
    if other == step:
        other = _WORD.sub(lambda match: f"_{match[1].lower()}", step)
    return list(dict.fromkeys((step, other)))
