"""The metrics, labels and words of a PromQL expression: enough to check it against `METRICS`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.values.metric import Metric
from tests.support.metrics import METRICS

FUNCTIONS = frozenset(
    {"abs", "changes", "clamp_max", "clamp_min", "count", "delta", "histogram_quantile", "increase"}
    | {
        "irate",
        "label_values",
        "max",
        "max_over_time",
        "min",
        "min_over_time",
        "rate",
        "sum",
        "time",
    }
    | {"topk", "vector", "avg", "avg_over_time"}
)
KEYWORDS = frozenset(
    {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless"}
    | {"offset", "bool"}
)
ALWAYS = frozenset({"instance", "job"})
"""Labels that Prometheus itself puts on every series."""

_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)?\{([^}]*)\}")
_MATCHER = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)\s*"[^"]*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_WORD = re.compile(r"(?<![\w.:$])[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass(frozen=True)
class Named:
    """`metrics` by their names as they stand there, `labels` that are matched on each of them,
    `grouped` labels, and `others`: words that are neither these nor of the language."""

    metrics: frozenset[str]
    matched: frozenset[tuple[str, str]]
    grouped: frozenset[str]
    others: frozenset[str]


def series() -> dict[str, Metric]:
    """The names of series at /metrics, with what they are of."""
    by_name = {}
    for metric in METRICS:
        if metric.kind == "histogram":
            for end in ("_bucket", "_sum", "_count"):
                by_name[metric.name + end] = metric
        else:
            by_name[metric.name] = metric
    return by_name


def named(expression: str) -> Named:
    """What an expression names."""
    matched = {
        (selector[1] or "", label)
        for selector in _SELECTOR.finditer(expression)
        for label in _MATCHER.findall(selector[2])
    }
    grouped = {
        label.strip()
        for group in _GROUPING.findall(expression)
        for label in group.split(",")
        if label.strip()
    }
    bare = _SELECTOR.sub(lambda match: match[1] or "", expression)
    bare = re.sub(r"\[[^\]]*\]", "", _GROUPING.sub("", bare))
    bare = re.sub(r"\boffset\s+\w+", "", re.sub(r'"[^"]*"', "", bare))
    words = set(_WORD.findall(bare)) - FUNCTIONS - KEYWORDS
    known = frozenset(word for word in words if word.startswith(("modelway_", "gen_ai_")))
    return Named(known, frozenset(matched), frozenset(grouped), frozenset(words - known))


def wrong(expression: str) -> list[str]:
    """What an expression names that is not there, in words."""
    metrics, names = series(), named(expression)
    errors = [f"no metric {name}" for name in names.metrics if name not in metrics]
    labels = {label for name in names.metrics if name in metrics for label in metrics[name].labels}
    labels |= ALWAYS | {"le"}
    for name, label in names.matched:
        mine = set(metrics[name].labels) | ALWAYS if name in metrics else ALWAYS
        if label not in mine:
            errors.append(f"{name} has no label {label}")
    errors += [f"no label {label}" for label in names.grouped - labels]
    return errors + [f"unknown word {word}" for word in names.others - {"up"}]
