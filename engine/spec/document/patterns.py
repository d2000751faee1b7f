"""Regular expressions of documents: written for ECMA-262, for Java, Python or PCRE, and read as the
expression in the syntax of jsonschema_rs that means the same.

What a pattern means in other languages is clear where ECMA-262 with its flag `u` refuses it: `\\A`,
`\\Z`, `(?P<name>...)`, `[\\w-.]`. A long repetition of one character is read as one without bounds,
beside the bounds of the text's length, which needs a thousandth of the memory.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import jsonschema_rs

_MAX_PATTERNS = 10_000
_LONG = 1_000
"""Repetitions up to this are left to the engine, unless it refuses them for their size."""

_SHORT = 10
"""Repetitions that keep their bounds in a pattern that is too large for the engine."""

_STANDARD = jsonschema_rs.Draft202012Validator({"format": "regex"}, validate_formats=True)


class Reading(NamedTuple):
    """How a pattern is read: the `pattern`, None if it cannot be, and the bounds of the length of a
    text that it implies. `is_standard`: it is valid by ECMA-262, and no literal of JavaScript
    between slashes. `is_exact`: the reading refuses whatever the pattern does, which is not known
    of atomic groups: the engine has none."""

    pattern: str | None
    bounds: dict[str, int]
    is_standard: bool
    is_exact: bool = True


_OTHER_PROPERTY = re.compile(
    r"\\[pP]\{(?!(?:(?:sc|scx|gc|Script|Script_Extensions|General_Category)=\w+|[CLMNPSZ][a-z]?|LC"
    r"|Letter|Mark|Number|Punctuation|Symbol|Separator|Other|Any|Assigned|ASCII|ASCII_Hex_Digit"
    r"|AHex|Hex_Digit|Hex|Alphabetic|Alpha|Lowercase|Lower|Uppercase|Upper|White_Space|space"
    r"|ID_Start|ID_Continue|Emoji|Ideographic)\})"
)
"""A property of characters that ECMA-262 does not have, or rarely: of POSIX, Java or .NET."""

_FIELD = "(?>yyyy|YYYY|yy|YY|MMMM|MMM|MM|dd|DD|HH|hh|mm|ss|SS)"
_CLOCK = re.compile(
    rf"(?=.*(?:yyyy|[-/:.]))(?:EEE,? )?{_FIELD}(?:[-/:., ]*(?:T|'T')?{_FIELD})+"
    r"(?>[.,]S+|'?Z'?| ?[azX])*"
)
"""A format of dates of Java or JavaScript (`yyyy-MM-dd'T'HH:mm:ss`), which generators of documents
copy from annotations: as an expression it matches no date. Its parts are atomic: a long text that
is none would be read in very many ways."""


def is_date_format(pattern: str) -> bool:
    """Whether a pattern is a format of dates (`yyyy-MM-dd`)."""
    return _CLOCK.fullmatch(pattern) is not None


@lru_cache(maxsize=_MAX_PATTERNS)
def read(pattern: str) -> Reading:
    """How the engine reads a pattern."""
    try:
        is_valid = bool(_STANDARD.is_valid(pattern))
    except UnicodeEncodeError:
        return Reading(None, {}, False)
    if is_date_format(pattern):
        return Reading(None, {}, False)
    text = _unquoted(pattern)
    is_standard = is_valid and text == pattern and _OTHER_PROPERTY.search(pattern) is None
    candidates = (text, _translated(text))
    for candidate in dict.fromkeys(candidates if is_valid else reversed(candidates)):
        parts = _repetition(candidate)
        if (parts is None or parts.most <= _LONG) and compiles(candidate):
            return Reading(candidate, {}, is_standard, is_exact="(?>" not in text)
        if parts is not None and compiles(parts.pattern):
            return Reading(parts.pattern, parts.bounds, is_standard)
    relaxed = _LONG_BOUND.sub(_without_bound, candidates[1])
    if compiles(relaxed):
        return Reading(relaxed, {}, is_standard, is_exact=False)
    return Reading(None, {}, is_standard)


def compiles(pattern: str) -> bool:
    """Whether the engine compiles a pattern. That of Draft 4, for OpenAPI 3.0, refuses more."""
    try:
        jsonschema_rs.Draft4Validator({"pattern": pattern})
    except (ValueError, UnicodeEncodeError):  # also jsonschema_rs.ValidationError
        return False
    return True


def _unquoted(pattern: str) -> str:
    """The pattern without the slashes and flags of a literal of JavaScript: nothing is before `^`
    or after `$`."""
    match = _LITERAL.fullmatch(pattern)
    if match is None:
        return pattern
    flags = "".join(sorted(set(match[2]) & set("ims")))
    return f"(?{flags}){match[1]}" if flags else match[1]


_LITERAL = re.compile(r"/(\^.*\$)/([a-z]*)", re.DOTALL)
_LONG_BOUND = re.compile(r"\{(\d+),(\d+)\}")


def _without_bound(match: re.Match[str]) -> str:
    least, most = int(match[1]), int(match[2])
    if most <= _SHORT:
        return match[0]
    return f"{{{least},}}" if least <= _SHORT else "+"


# One piece of a pattern outside of a class, or inside.
_PIECE = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\u\{[0-9a-fA-F]+\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[pP]\{[^{}]*\}|\\k<\w+>|\\0[0-7]{0,2}|\\c[A-Za-z]|\\."
    r"|\[:\^?\w+:\]|\(\?#[^)]*\)|\(\?[imsu]+\)|\(\?[imsu-]+:"
    r"|\(\?P?<\w+>|\(\?P=\w+\)|\(\?>|\(\?<?[=!]|\(\?:|\(|\[\^?|\]"
    r"|\{\d+(?:,\d*)?\}|\{,\d+\}|.",
    re.DOTALL,
)
_ESCAPES = {
    r"\A": "^",
    r"\Z": "$",
    r"\z": "$",
    r"\e": r"\x1B",
    r"\a": r"\x07",
    r"\h": r"[ \t\u00A0]",
    r"\R": r"(?:\r\n|[\n\v\f\r\u0085\u2028\u2029])",
}
_PROPERTIES = {
    "alpha": r"a-zA-Z",
    "lower": r"a-z",
    "upper": r"A-Z",
    "digit": r"0-9",
    "xdigit": r"0-9A-Fa-f",
    "space": r"\s",
    "word": r"\w",
    "ascii": r"\x00-\x7F",
    "alnum": r"a-zA-Z0-9",
    "blank": r" \t",
    "cntrl": r"\x00-\x1F\x7F",
    "graph": r"!-~",
    "print": r" -~",
    "punct": r"!-\/:-@\[-`{-~",
    "isalphabetic": r"\p{Alphabetic}",
    "isbasiclatin": r"\x00-\x7F",
    "inbasic_latin": r"\x00-\x7F",
    "islatin-1supplement": r"\u0080-\u00FF",
}
"""Names of classes of POSIX, Java and XML Schema, as the content of a class."""


_INTERSECTION = re.compile(r"\[((?:\\.|[^\[\]\\])+)&&\[(\^?)((?:\\.|[^\[\]\\])+)\]\]")


def _translated(pattern: str) -> str:
    """The pattern in the syntax of the engine, as far as it is understood."""
    pattern = _INTERSECTION.sub(
        lambda match: f"(?:(?{'!' if match[2] else '='}[{match[3]}])[{match[1]}])", pattern
    )
    pieces = _PIECE.findall(pattern)
    groups: list[str] = []
    parts: list[str] = []
    flags: list[list[str]] = [[]]
    opened = -1  # the index of the piece that opened the class, -1 outside of one
    for index, piece in enumerate(pieces):
        following = pieces[index + 1] if index + 1 < len(pieces) else ""
        if opened < 0:
            if _is_group(piece) and (piece != "(" or following != "?"):
                groups.append(piece.rstrip(">").rpartition("<")[2])
            text = _with_groups(piece, _outside(piece, groups), flags)
            opened = index if piece in ("[", "[^") else -1
        elif piece != "]":
            text = _in_class(piece, parts[-1], following)
        elif index == opened + 1 and _is_closed(pieces[opened], pieces[index + 1 :]):
            text = r"\]"
        else:
            if index == opened + 1:
                parts[-1] = r"[^\s\S" if pieces[opened] == "[" else r"[\s\S"
            text, opened = piece, -1
        parts.append(text)
    parts.append(")" * len(flags[-1]))
    return "".join(parts)


def _is_closed(opening: str, following: list[str]) -> bool:
    """Whether a class with a bracket as its first character ends in the pieces after that. In
    ECMA-262 the bracket ends an empty class, which matches nothing, or `[^]`, which matches
    everything; in all other languages it is a character."""
    if opening == "[":
        return "]" in following
    brackets = (piece for piece in following if piece in ("[", "[^", "]"))
    return next(brackets, "") == "]" or following[:2] == ["[", "]"]


def _with_groups(piece: str, text: str, flags: list[list[str]]) -> str:
    """The text of a piece with the groups that begin or end there: ECMA-262 has flags only for a
    group. `flags` are the groups of flags in each group of the pattern that is open."""
    if text[:2] == "(?" and _FLAGS.fullmatch(piece):
        flags[-1].append(text)
    elif piece[0] == "(" and piece[-1] != ")":
        flags.append([])
    elif piece == "|":
        return ")" * len(flags[-1]) + piece + "".join(flags[-1])
    elif piece == ")" and len(flags) > 1:
        return ")" * len(flags.pop()) + piece
    return text


_FLAGS = re.compile(r"\(\?([imsu]+)\)")


def _is_group(piece: str) -> bool:
    return piece == "(" or (piece.startswith(("(?<", "(?P<")) and piece[-1] == ">")


def _outside(piece: str, names: list[str]) -> str:
    """A piece outside of a class. References to groups go by number."""
    if piece in _ESCAPES:
        return _ESCAPES[piece]
    if piece.startswith((r"\k<", "(?P=")):
        name = piece[3:-1] if piece[0] == "\\" else piece[4:-1]
        return f"\\{names.index(name) + 1}(?:)" if name in names else piece
    if _is_group(piece):
        return "("
    if piece.startswith("(?#"):
        return ""
    if flags := _FLAGS.fullmatch(piece):
        letters = "".join(sorted(set(flags[1]) - {"u"}))
        return f"(?{letters}:" if letters else ""
    if piece == "(?>":
        return "(?:"
    if piece.startswith("{,"):
        return "{0" + piece[1:]
    if piece in ("{", "}", "]"):
        return "\\" + piece
    if piece.startswith(r"\Q"):
        return re.escape(piece[2:].removesuffix(r"\E"))
    text = _character(piece)
    return f"[{text}]" if piece[:2] == r"\p" and text[:2] != r"\p" else text


def _in_class(piece: str, before: str, after: str) -> str:
    """A piece within a class. A hyphen beside a class of characters is a character."""
    is_bound = before in ("[", "[^") or after == "]"
    if piece == "-" and not is_bound and (_is_set(before) or _is_set(after)):
        return r"\-"
    if piece[:2] == "[:" and piece[2:-2] in _PROPERTIES:
        return _PROPERTIES[piece[2:-2]]
    if piece in ("[", "[^", "("):
        return "\\" + piece
    if piece == r"\b":
        return r"\x08"
    return r" \t\u00A0" if piece == r"\h" else _character(piece)


def _is_set(piece: str) -> bool:
    return piece[:2] in (r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\p", r"\P", "[:")


def _character(piece: str) -> str:
    """An escape of a character, or of a class of characters, in the syntax of the engine."""
    if re.match(r"\\u[dD][89abAB]..\\u", piece):
        character = bytes.fromhex(piece[2:6] + piece[8:12]).decode("utf-16-be")
        return f"\\u{{{ord(character):X}}}"
    if re.match(r"\\0[0-7]*", piece):
        return f"\\x{int(piece[1:], 8):02X}"
    if piece[:2] == r"\p" and not compiles(piece):
        name = piece[3:-1].lower()
        if name in _PROPERTIES:
            return _PROPERTIES[name]
        for other in (f"{piece[3:-1][2:]}", f"Script={piece[3:-1][2:]}"):
            if name.startswith(("is", "in")) and compiles(f"\\p{{{other}}}"):
                return f"\\p{{{other}}}"
    return _ESCAPES.get(piece, piece) if piece in (r"\e", r"\a") else piece


_CHARACTER = (
    r"(?:\[(?:\\.|[^\]\\])+\]|\\[pP]\{[^{}]*\}|\\[wWdDsS.\-/_@]|\\u[0-9a-fA-F]{4}|[\w .@/:-])"
)
_REPEATED = re.compile(
    rf"((?:\(\?[ims]+:)?\^)((?:{_CHARACTER}(?:\{{\d+\}})?)*)({_CHARACTER}|\.)\{{(\d+),(\d+)\}}"
    rf"((?:{_CHARACTER}(?:\{{\d+\}})?)*)(\$\)?)"
)
_COUNTED = re.compile(rf"({_CHARACTER})(?:\{{(\d+)\}})?")


class _Repetition(NamedTuple):
    """A pattern without the bounds of a repetition, of which `most` is one, and the bounds of the
    length of the text that mean the same."""

    pattern: str
    bounds: dict[str, int]
    most: int


def _repetition(pattern: str) -> _Repetition | None:
    """A pattern of characters, of which one is repeated, without the bounds of its repetition."""
    match = _REPEATED.fullmatch(pattern)
    if match is None:
        return None
    start, before, character, least, most, after, end = match.groups()
    fixed = sum(int(each[2] or 1) for each in _COUNTED.finditer(before + after))
    bounds = {"maxLength": int(most) + fixed}
    if int(least) > 1:
        bounds["minLength"] = int(least) + fixed
    repeated = f"{start}{before}{character}{'+' if int(least) else '*'}{after}{end}"
    return _Repetition(repeated, bounds, int(most))
