"""The metrics, labels and words of a PromQL expression: enough to check it against `METRICS`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.values.metric import Metric
from tests.support.metrics import METRICS

FUNCTIONS = frozenset(
    {
        "abs",
        "absent",
        "changes",
        "clamp_max",
        "clamp_min",
        "count",
        "delta",
        "histogram_quantile",
        "increase",
    }
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
class Vocabulary:
    """The words of an expression: `metrics`, pairs of metric and label that are `matched`,
    `grouped` labels, and `others`, which are neither these nor PromQL."""

    metrics: frozenset[str]
    matched: frozenset[tuple[str, str]]
    grouped: frozenset[str]
    others: frozenset[str]


def series() -> dict[str, Metric]:
    """The metrics by the names of their series at /metrics."""
    by_name = {}
    for metric in METRICS:
        if metric.kind == "histogram":
            for end in ("_bucket", "_sum", "_count"):
                by_name[metric.name + end] = metric
        else:
            by_name[metric.name] = metric
    return by_name


def vocabulary(expression: str) -> Vocabulary:
    """The words of an expression, by kind."""
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
    metrics = frozenset(word for word in words if word.startswith(("modelway_", "gen_ai_")))
    return Vocabulary(metrics, frozenset(matched), frozenset(grouped), frozenset(words - metrics))


def wrong(expression: str) -> list[str]:
    """The errors of an expression: unknown metrics, labels and words."""
    metrics, words = series(), vocabulary(expression)
    errors = [f"no metric {name}" for name in words.metrics if name not in metrics]
    labels = {label for name in words.metrics if name in metrics for label in metrics[name].labels}
    labels |= ALWAYS | {"le"}
    for name, label in words.matched:
        mine = set(metrics[name].labels) | ALWAYS if name in metrics else ALWAYS
        if label not in mine:
            errors.append(f"{name} has no label {label}")
    errors += [f"no label {label}" for label in words.grouped - labels]
    return errors + [f"unknown word {word}" for word in words.others - {"up"}]
