"""Expand `${VAR}`, `${VAR:-default}` and `${file:/path}` in strings; `$${` is a literal `${`.

For a variable that is not set, the one that was probably meant is suggested. Whoever follows a
suggestion sends the value to the upstream of the config: a variable that names another vendor, like
that of a key, is never suggested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from engine.config import providers
from engine.config.likely_value import variable
from engine.source import files
from engine.source.files import read_text
from engine.source.suggestion import distance, near
from engine.source.values import Expand, ExpandError

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_OF_NO_VENDOR = frozenset(
    {
        *("ACCESS", "ACCOUNT", "AI", "API", "AUTH", "BASE", "BEARER", "CLOUD", "COGNITIVE"),
        *("CREDENTIAL", "ENDPOINT", "GATEWAY", "HOST", "ID", "KEY", "LOCATION", "MODEL", "NAME"),
        *("PASSWORD", "PROJECT", "REGION", "RESOURCE", "SECRET", "SERVICES", "TOKEN", "UPSTREAM"),
        "URL",
    }
)
_LETTERS_OF_A_MISTAKE = 5
"""A mistake is assumed in a vendor's name of this length, two in one twice as long: XAI and ZAI, or
GROK and GROQ, are two vendors."""


def expander(
    environ: Mapping[str, str], folder: Path, encode: Callable[[str], str] | None = None
) -> Expand:
    """A function that expands references. Relative paths start at `folder`; `encode` is applied to
    the value of each reference. A URL that ends in a slash loses it before another slash.

    The function raises ExpandError for a variable that is not set and a file that cannot be read.
    """

    def fill(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        value = _value(match, environ, folder)
        if _is_base(value) and match.string[match.end() : match.end() + 1] == "/":
            value = value.rstrip("/")
        return value if encode is None else encode(value)

    return lambda text: _REFERENCE.sub(fill, text)


def _value(match: re.Match[str], environ: Mapping[str, str], folder: Path) -> str:
    """The value of a reference."""
    if not match[0].endswith("}"):
        raise ExpandError("'${' without '}'", "close it, or write $${ for a literal ${")
    inside = match[1]
    if inside.startswith("file:"):
        return _read(folder / inside.removeprefix("file:"))
    name, mark, default = inside.partition(":-")
    if _NAME.fullmatch(name) is None:
        hint = _likely(inside) or "write ${VAR}, ${VAR:-default} or ${file:/path}"
        raise ExpandError(f"'${{{inside}}}' is not a reference", hint)
    if environ.get(name):
        return _text(environ[name], name)
    if mark:
        return default
    hint = f"set it, or give a default: ${{{name}:-...}}"
    if name in environ:
        raise ExpandError(f"environment variable '{name}' is empty", hint)
    if closest := near_variable(name, environ):
        hint = f"did you mean '{closest}'?"
    raise ExpandError(f"environment variable '{name}' is not set", hint)


def _is_base(value: str) -> bool:
    """Whether a value is a URL with a slash at its end, as the pages of vendors show it: before
    another path the slash is not doubled."""
    return value.endswith("/") and value.startswith(("https://", "http://"))


def _likely(inside: str) -> str:
    """The hint for what stands between the braces, if it names a variable as other programs do."""
    name = variable(f"${{{inside}}}")
    return f"write {name}" if name else ""


def _text(value: str, name: str) -> str:
    """The value of a variable. Raises ExpandError if it is not UTF-8: Python then has surrogates
    in it, which JSON, headers and addresses cannot hold."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"environment variable '{name}' is not UTF-8 text"
        raise ExpandError(message, "set it to text") from error
    return value


def defaults_in_use(text: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The unset or empty variables of `${VAR:-default}` in a text, with their defaults."""
    inside = (match[1] or "" for match in _REFERENCE.finditer(text))
    parts = (reference.partition(":-") for reference in inside)
    return {name: default for name, mark, default in parts if mark and not environ.get(name)}


def _read(path: Path) -> str:
    try:
        return read_text(path).rstrip("\r\n")
    except OSError as error:
        raise ExpandError(
            f"file '{path}' cannot be read: {error.strerror}", "check the path and its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise ExpandError(f"file '{path}' is not UTF-8 text") from error


def near_variable(name: str, variables: Iterable[str]) -> str | None:
    """The one of `variables` that a config with the unset variable `name` probably means."""
    upper = [variable for variable in variables if variable.isupper()]
    while (closest := near(name, upper)) is not None:
        if _of_one_vendor(name, closest):
            return closest
        upper.remove(closest)
    return None


def _of_one_vendor(name: str, other: str) -> bool:
    """Whether each name of a vendor in one of the variables is in the other, perhaps misspelt."""
    words, others = name.upper().split("_"), other.upper().split("_")
    return _has_vendors_of(words, others) and _has_vendors_of(others, words)


def _has_vendors_of(words: list[str], others: list[str]) -> bool:
    vendors = _vendors()
    return all(
        any(
            word == vendor
            or (
                word not in vendors
                and distance(word, vendor) <= len(vendor) // _LETTERS_OF_A_MISTAKE
            )
            for word in words
        )
        for vendor in vendors.intersection(others)
    )


@cache
def _vendors() -> frozenset[str]:
    """The words of the known providers' names and variables that stand for a vendor."""
    words = {word for name in providers.names() for word in name.upper().split("-")}
    for name in providers.names():
        text = (files.PROVIDERS / f"{name}.yaml").read_text("utf-8")
        words |= {word for variable in _VARIABLE.findall(text) for word in variable.split("_")}
    return frozenset(words - _OF_NO_VENDOR)
