"""Path templates: their variables, the paths that they match, and what is wrong with one.

Raw paths are matched with them (see `path_tree`); `unsafe` says which raw paths may not be sent on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SUSPICIOUS = re.compile(r"[%\\#\x00-\x1f\x7f-\xff]|/\.")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OVERLONG = re.compile("(?:%c0|%e0%80|%f0%80%80)%a[ef]|(?:%c1|%e0%81|%f0%80%81)%9c", re.IGNORECASE)
_CHARACTERS = {"ae": ".", "af": "/", "9c": "\\"}
"""What is written in more bytes than UTF-8 has for it, by the last of these."""
_BLANKS = " \t\r\n\0"
_MAX_DECODINGS = 4
_REGEXES = {"mediaTypeExtension": r"(\.[^/.]+)"}
"""What a variable directly behind another one matches, by its name: RAML has one for `.json` and
`.xml` (RAML 0.8, Template URIs and URI Parameters)."""


def variables(template: str) -> list[str]:
    """The names of a template's variables, in order."""
    return [name.partition("=")[0] for name in _VARIABLE.findall(template)]


def pieces(template: str) -> list[str]:
    """What stands between a template's variables and, at the odd indexes, their names."""
    parts = _VARIABLE.split(template)
    parts[1::2] = [name.partition("=")[0] for name in parts[1::2]]
    return parts


def shape(template: str) -> str:
    """The template without the names of its variables: templates of equal shape match the same
    paths."""
    return _VARIABLE.sub("{}", template)


def pattern(template: str) -> re.Pattern[str]:
    """The pattern of the paths that a template matches, without variables that hold slashes, with a
    group for each variable."""
    return re.compile(regex(template))


def ambiguous(shapes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The ordered pairs of shapes that may match the same paths, of which neither is more specific:
    each has a variable where the other one has a literal segment."""
    by_mask: dict[tuple[bool, ...], list[list[str]]] = {}
    for shape_ in shapes:
        segments = shape_.split("/")
        by_mask.setdefault(tuple("{" in s for s in segments), []).append(segments)
    for mask, templates in by_mask.items():
        for other_mask, others in by_mask.items():
            pairs = {*zip(mask, other_mask, strict=False)}
            if len(mask) != len(other_mask) or not {(True, False), (False, True)} <= pairs:
                continue
            literal = [
                i for i, (a, b) in enumerate(zip(mask, other_mask, strict=True)) if not a | b
            ]
            by_literals: dict[tuple[str, ...], list[str]] = {}
            for segments in others:
                key = tuple(segments[i] for i in literal)
                by_literals.setdefault(key, []).append("/".join(segments))
            for segments in templates:
                for other in by_literals.get(tuple(segments[i] for i in literal), ()):
                    yield "/".join(segments), other


class Fault(NamedTuple):
    """What is wrong with a path template, and what to write instead."""

    message: str
    hint: str


def check(template: str) -> Fault | None:
    """The error in a path template, or None."""
    if not template.startswith("/"):
        return Fault("a path begins with '/'", f"write '/{template}'")
    if "//" in template:
        return Fault("it has an empty segment", f"write '{re.sub('//+', '/', template)}'")
    if "?" in template or "#" in template:
        return Fault("a path has no query or fragment", "describe the query by parameters")
    literals = _VARIABLE.sub("", template)
    if "{" in literals or "}" in literals:
        return Fault("it has an unbalanced brace", "write variables as '{name}'")
    if "=" in "".join(_VARIABLE.findall(template)):
        return Fault("a variable is a plain name, without a pattern", "write it as '{name}'")
    names = variables(template)
    if "" in names:
        return Fault("a variable has no name", "write it as '{name}', and declare the parameter")
    if repeated := next((name for name in names if names.count(name) > 1), None):
        hint = f"give the second '{{{repeated}}}' a name of its own, and declare the parameter"
        return Fault("a variable name is repeated", hint)
    if "}{" in template.replace("}{mediaTypeExtension}", "}"):
        hint = "write a separator, as '{a}-{b}', or one variable for both"
        return Fault("two variables follow each other: put text between them", hint)
    return None


def unsafe(path: str) -> str | None:
    """The reason why a raw path must not reach an upstream, or None.

    Dot segments and control characters, encoded or not, may lead to a path that is not allowed.
    """
    if _SUSPICIOUS.search(path) is None:
        return None
    if _BAD_ESCAPE.search(path):
        return "it has a '%' without two hexadecimal digits"
    try:
        decoded = unquote(path.encode("latin-1").decode(), errors="strict")
    except UnicodeError:
        return "it is not UTF-8"
    if any(char < " " or char == "\x7f" for char in decoded) or "#" in path:
        return "it has a control character or '#'"
    return "it has a dot segment" if _has_dot_segment(decoded) else None


def _has_dot_segment(path: str) -> bool:
    """Whether a path has a dot segment now, or after what an upstream may do: more decoding, wide
    or overlong forms of its characters, blanks cut off at its end."""
    for _ in range(_MAX_DECODINGS):
        path = _plain(path)
        segments = re.split(r"[/\\]", path)
        if any(segment.partition(";")[0].strip(_BLANKS) in (".", "..") for segment in segments):
            return True
        path, before = unquote(path), path
        if path == before:
            break
    return False


def _plain(path: str) -> str:
    """A path with the plain characters for wide and overlong ones. Characters are normalized one by
    one, since the time for a text is the square of a run of combining ones."""
    path = _OVERLONG.sub(lambda match: _CHARACTERS[match[0][-2:].lower()], path)
    if path.isascii():
        return path
    return path.translate({ord(char): normalize("NFKC", char) for char in set(path)})


def regex(text: str, slash_variables: Collection[str] = ()) -> str:
    """The expression that a template, or a part of one, matches; `slash_variables` may hold
    slashes."""
    parts = []
    at = 0
    for match in _VARIABLE.finditer(text):
        parts.append(_literal(text[at : match.start()]))
        name = match[1].partition("=")[0]
        pattern = _REGEXES.get(name) if match.start() and text[match.start() - 1] == "}" else None
        parts.append("(.+)" if name in slash_variables else pattern or "([^/]+)")
        at = match.end()
    return "".join(parts) + _literal(text[at:])


def _literal(text: str) -> str:
    """A pattern for literal text; reserved characters also match percent-encoded."""
    return "".join(
        char if char.isalnum() or char in "/-_~" else f"(?:{re.escape(char)}|(?i:%{ord(char):02x}))"
        for char in text
    )
