"""The effect of a change of each key of gateway.yaml, by the annotation in its schema.

`weaker` says which change protects less. `compared` names the module of `kinds/` that compares the
key in more detail, or is false for a key without an effect of its own. A test fails for a key of
the schema, or a field of the config, without one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from engine.config import keys
from engine.offline.diff.change_rules import (
    CHANGES,
    NEUTRAL,
    ChangeRule,
    always_weakens,
    compared_by,
    gaining_weakens,
    higher_weakens,
    losing_weakens,
    lower_weakens,
    plain,
    plainer_weakens,
    reached_by_more_weakens,
    removing_weakens,
    size,
    weaker_towards,
)
from engine.offline.diff.difference import Effect
from engine.offline.diff.restrictions import network_covers, origin_covers
from engine.values.trees import Section
from engine.values.units import duration_text

_RULES = {
    "never": CHANGES,
    "always": always_weakens(),
    "more": higher_weakens(),
    "less": lower_weakens(),
    "removal": removing_weakens(),
    "exposure": reached_by_more_weakens(),
    "plaintext": plainer_weakens(),
}
_COVERS = {"network": network_covers, "origin": origin_covers}
_PASSWORD = re.compile(r"(://[^/@\s:]*:)[^/@\s]+@")
_SHOW: Mapping[str, Callable[[Any], str]] = {
    "headers": lambda value: "another",
    "value": lambda value: "another",
    "url": lambda value: _PASSWORD.sub(r"\1***@", plain(value)),
    "duration": duration_text,
    "size": size,
    "money per million": lambda value: f"{value / 10**12:g} a million",
    "money each": lambda value: f"{value / 10**18:g} each",
}


@cache
def levels() -> Mapping[str, ChangeRule]:
    """The rules by the path of their key, with `*` for a name or an index."""
    return {key.name: _rule(key.notes) for key in keys.root().all() if _has_rule(key)}


def rule_of(pattern: str) -> ChangeRule:
    """The rule of a key, or of the key above it that is compared as a whole. Raises KeyError for a
    key without a rule.
    """
    steps = pattern.split(".")
    for end in range(len(steps) - 1, 0, -1):
        above = levels().get(".".join(steps[:end]))
        if above is not None and above.level is None:
            return above
    return levels()[pattern]


def _has_rule(key: keys.Key) -> bool:
    return "weaker" in key.notes or "compared" in key.notes


def _rule(notes: Section) -> ChangeRule:
    if "compared" in notes:
        return compared_by(notes["compared"]) if notes["compared"] else NEUTRAL
    rule = _direction(notes["weaker"], notes)
    return rule.worded(
        show=_SHOW.get(notes.get("secret", notes.get("unit", "")), plain),
        kind=notes.get("kind", ""),
        weaker=notes.get("weaker_kind", ""),
        absent=notes.get("absent", "none"),
        sentences=notes.get("sentences", {}),
    )


def _direction(weaker: Any, notes: Section) -> ChangeRule:
    """The rule of an annotation `weaker`: a word, or values with the strongest first."""
    otherwise = Effect[notes.get("otherwise", "changed").upper()]
    if isinstance(weaker, list):
        order = [... if value == "..." else value for value in weaker]
        return weaker_towards(*order, back=otherwise)
    if weaker == "gain":
        return gaining_weakens(_COVERS[notes["unit"]], opposite=otherwise)
    if weaker == "loss":
        return losing_weakens(also=notes.get("also", ()))
    return _RULES[weaker]
