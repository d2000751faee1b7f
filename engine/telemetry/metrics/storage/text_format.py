"""Prometheus's text format 0.0.4, as far as the gateway's own page uses it: numbers and families.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. The package
prometheus_client can read and write it as well, but to import any part of it imports HTTP servers
and clients, which takes a start 20 ms and each gateway 1 MB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_PAIR = r'\s*[a-zA-Z_][a-zA-Z0-9_]*\s*=\s*"(?:[^"\\]|\\.)*"\s*'
_LABELS = rf"\s*\{{((?:{_PAIR}(?:,|(?=\}})))*)\s*\}}\s*"
_SAMPLE = re.compile(rf"({_NAME})(?:{_LABELS}|\s+)(\S+)(?:\s+-?\d+)?", re.DOTALL)
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_COMMENT = re.compile(rf"# (HELP|TYPE) ({_NAME})(?: (.*))?")
_ESCAPE = re.compile(r'\\([\\n"])')
_TOTAL = "_total"
_FIRST_EXPONENT = 6
"""Go writes numbers of more digits than this, and one, with an exponent."""


class Sample(NamedTuple):
    """A line of the page: the name, which of a histogram ends in `_bucket` or the like, the labels
    and the value."""

    name: str
    labels: Mapping[str, str]
    value: float


class Family(Struct):
    """A metric with its samples. `type` is `untyped` if the page does not say it; the name of a
    counter is without `_total`."""

    name: str
    type: str = "untyped"
    help: str = ""
    samples: list[Sample] = []


def number_text(number: float) -> str:
    """A number as Go prints it, and with it Prometheus: `1e+06`, `0.5`, `3.0`, `+Inf`."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    text = repr(float(number))  # bounds may be whole numbers
    whole, _, fraction = text.partition(".")
    exponent = len(whole) - 1
    if number < 0 or exponent < _FIRST_EXPONENT or "e" in text:
        return text
    digits = f"{whole[1:]}{fraction}".rstrip("0")
    return f"{whole[0]}{digits and f'.{digits}'}e+{exponent:02d}"


def read_samples(text: str) -> Iterator[Sample]:
    """The samples of a page. Raises ValueError for another format."""
    for line in text.split("\n"):
        line = line.strip()
        if line and not line.startswith("#"):
            yield _sample(line)


def read_families(text: str) -> Iterator[Family]:
    """The families of a page on which each has its type or help before its samples. Raises
    ValueError for another format."""
    family: Family | None = None
    full_name = ""
    for line in text.split("\n"):
        line = line.strip()
        comment = _COMMENT.fullmatch(line)
        if comment is not None:
            kind, name, value = comment.groups(default="")
            if family is None or name != full_name:
                if family is not None:
                    yield family
                family, full_name = Family(name), name
            if kind == "TYPE":
                family.type = value
                if value == "counter":
                    family.name = name.removesuffix(_TOTAL)
            else:
                family.help = _unescaped(value)
        elif line and not line.startswith("#"):
            sample = _sample(line)
            if family is None or not sample.name.startswith(full_name):
                raise ValueError(f"the sample {sample.name} has no type")
            family.samples.append(sample)
    if family is not None:
        yield family


def _sample(line: str) -> Sample:
    match = _SAMPLE.fullmatch(line)
    if match is None:
        raise ValueError(f"no line of Prometheus's text format: {line[:100]!r}")
    name, labels, value = match.groups()
    pairs = _LABEL.findall(labels) if labels else ()
    return Sample(name, {label: _unescaped(text) for label, text in pairs}, float(value))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]
