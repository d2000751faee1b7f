"""Which model serves a name, and which of its targets comes first."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from engine.config.models import Model, TargetConfig
from engine.upstream.model_catalog import Catalog, ServedModel, build_catalog
from tests.support.upstreams import Client, upstream

A, B, C = (upstream(Client(), name=name) for name in "abc")


def served(*names: str) -> Catalog:
    return Catalog(ServedModel(name, (A.target("", 1),), ()) for name in names)


def found(names: Any, asked: str) -> str | None:
    model = served(*names).find(asked)
    return model.name if model else None


@pytest.mark.parametrize(
    ("names", "asked", "name"),
    [
        (["m"], "m", "m"),
        (["m"], "M", None),
        (["m"], "m2", None),
        (["m"], "", None),
        ([], "m", None),
        # An exact name comes first, wherever it stands.
        (["*", "m", "m*"], "m", "m"),
        (["m*", "m"], "m", "m"),
        # Of wildcards, the one with the most literal text.
        (["*", "claude-*", "claude-opus-*"], "claude-opus-4", "claude-opus-*"),
        (["claude-opus-*", "claude-*", "*"], "claude-sonnet", "claude-*"),
        (["claude-*", "*"], "gpt", "*"),
        (["a*", "*bcd"], "abcd", "*bcd"),
        (["org/*"], "org/a/b", "org/*"),
        (["*:free"], "org/m:free", "*:free"),
        (["a*c*e"], "abcde", "a*c*e"),
        (["a*"], "a", "a*"),
        # An asterisk is the only wildcard.
        (["m?"], "mx", None),
        (["m?*"], "mxy", None),
        (["m?*"], "m?y", "m?*"),
        (["m[12]*"], "m1", None),
        (["m[12]*"], "m[12]x", "m[12]*"),
        (["*"], "a\nb", "*"),
    ],
)
def test_a_name_is_served_by(names: list[str], asked: str, name: str | None) -> None:
    assert found(names, asked) == name


def test_of_two_equally_long_wildcards_the_first_counts() -> None:
    assert found(["a*d", "ab*"], "abd") == "a*d"


def test_only_exact_names_are_listed() -> None:
    assert served("b", "a*", "a", "*").names() == ["b", "a"]


# From the configuration.


def made(**models: Any) -> Catalog:
    """`name=([("a", "model there", weight), ...], [fallbacks])`, `_star` standing for `*`."""
    configured = {}
    for name, (to, fallback) in models.items():
        name = name.replace("_star", "*")
        targets = tuple(TargetConfig(u, m, w, ()) for u, m, w in to)
        configured[name] = Model(name, targets, tuple(fallback), "", "", 0, ())
    return build_catalog(configured, {"a": A, "b": B, "c": C})


def result(made: Catalog, name: str, dice: float = 0.0) -> list[tuple[str, str]]:
    served = made.find(name)
    assert served is not None
    return [(t.upstream.name, t.model) for t in served.candidates(lambda: dice)]


def test_a_target_has_the_name_it_wants() -> None:
    catalog = made(m=([("a", "m-there", 1)], []), n=([("a", "", 1)], []))
    assert result(catalog, "m") == [("a", "m-there")]
    assert result(catalog, "n") == [("a", "")]


def test_a_wildcard_passes_the_name_that_was_asked_for() -> None:
    catalog = made(m_star=([("a", "", 1), ("b", "fixed", 1)], []))
    assert result(catalog, "m-5") == [("a", ""), ("b", "fixed")]


def test_fallbacks_come_after_all_targets_in_their_order() -> None:
    catalog = made(
        m=([("a", "1", 1), ("b", "2", 1)], ["y", "x"]),
        x=([("a", "x", 1)], []),
        y=([("c", "", 1)], []),
    )
    # A fallback's target takes the fallback's own name, not the one asked for.
    assert result(catalog, "m") == [("a", "1"), ("b", "2"), ("c", "y"), ("a", "x")]
    assert result(catalog, "m", 0.9) == [("b", "2"), ("a", "1"), ("c", "y"), ("a", "x")]


def test_the_fallbacks_of_fallbacks_follow_them_once_each() -> None:
    catalog = made(
        m=([("a", "m", 1)], ["x", "y"]),
        x=([("a", "x", 1)], ["z"]),
        y=([("a", "y", 1)], ["z"]),
        z=([("a", "z", 1)], []),
    )
    assert [name for _, name in result(catalog, "m")] == ["m", "x", "z", "y"]


def test_a_model_is_not_its_own_fallback() -> None:
    catalog = made(m=([("a", "m", 1)], ["x"]), x=([("a", "x", 1)], ["m"]))
    assert [name for _, name in result(catalog, "m")] in (["m", "x"], ["m", "x", "m"])


def test_targets_of_one_model_have_breakers_of_their_own() -> None:
    catalog = made(
        m=([("a", "x", 1), ("a", "y", 1), ("b", "x", 1)], []), n=([("a", "x", 1)], ["m"])
    )
    m, n = catalog.find("m"), catalog.find("n")
    assert m is not None
    assert n is not None
    breakers = [target.breaker for target in (*m.targets, *n.targets)]
    assert len({id(breaker) for breaker in breakers}) == 4
    # As a fallback a target is the one it is for its own model.
    assert [t.breaker for t in n.fallbacks] == [t.breaker for t in m.targets]


def test_fallbacks_stay_in_order_and_the_targets_of_each_are_drawn_by_weight() -> None:
    dice = random.Random(7).random
    served = made(
        m=([("a", "x", 1)], ["first", "second"]),
        first=([("a", "1", 1), ("b", "2", 3)], []),
        second=([("b", "3", 1), ("c", "4", 1)], []),
    ).find("m")
    assert served is not None
    seen = Counter("".join(t.model for t in served.candidates(dice)) for _ in range(4_000))
    assert set(seen) == {"x1234", "x2134", "x1243", "x2143"}
    assert abs(seen["x2134"] + seen["x2143"] - 3_000) < 120
    assert abs(seen["x1234"] + seen["x2134"] - 2_000) < 120
