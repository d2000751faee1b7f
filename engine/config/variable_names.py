"""The environment variable that a config probably means, if it is of the same vendor.

Whoever follows a suggestion sends the value to the upstream of the config: a variable that names
another vendor, like that of a key, is never suggested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from engine.config import providers
from engine.source import files
from engine.source.suggestion import distance, near

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
