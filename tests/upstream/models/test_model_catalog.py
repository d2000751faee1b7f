"""Which model a name finds, and the order of its targets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engine.config.models import Choice, Model, RuleConfig, TargetConfig
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.models.build_catalog import build_catalog
from engine.upstream.models.model_catalog import Catalog, ServedModel
from engine.upstream.targets.target import Target
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream

A, B, C = (upstream(Client(), name=name) for name in "abc")


def catalog_of(*names: str) -> Catalog:
    return build(**{name: ([("a", "", 1)], []) for name in names})


def find(names: Any, requested: str) -> str | None:
    model = catalog_of(*names).find(requested)
    return model.name if model else None


@pytest.mark.parametrize(
    ("names", "requested", "name"),
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
def test_a_name_finds_its_model(names: list[str], requested: str, name: str | None) -> None:
    assert find(names, requested) == name


def test_of_two_equally_long_wildcards_the_first_matches() -> None:
    assert find(["a*d", "ab*"], "abd") == "a*d"


# From the configuration.


def build(dice: Callable[[], float] = lambda: 0.0, **models: Any) -> Catalog:
    """`name=([("a", "model there", weight), ...], [fallbacks])`, `_star` standing for `*`."""
    configured = {}
    for name, (to, fallback) in models.items():
        name = name.replace("_star", "*")
        targets = tuple(TargetConfig(u, m, w) for u, m, w in to)
        configured[name] = Model(name, targets, tuple(fallback), "", "", 0)
    services = Services(dice=dice)
    return build_catalog(configured, {"a": A, "b": B, "c": C}, partial(choose.build, services))


def order(model: ServedModel, name: str = "x") -> list[Target]:
    """The targets for a requested name in the order of attempts."""
    return list(model.order(new_exchange(model=name)))


def result(catalog: Catalog, name: str) -> list[tuple[str, str]]:
    model = catalog.find(name)
    assert model is not None
    return [(t.upstream.name, t.model) for t in order(model, name)]


def test_a_star_is_what_the_star_of_the_entry_stands_for() -> None:
    catalog = build(
        **{"a/_star": ([("a", "*", 1), ("b", "", 1), ("c", "own", 1)], ["n"])},
        n=([("b", "", 1)], []),
    )
    assert result(catalog, "a/m") == [("a", "m"), ("b", ""), ("c", "own"), ("b", "n")]


def test_the_state_of_a_star_is_that_of_its_entry() -> None:
    catalog = build(**{"a/_star": ([("a", "*", 1)], [])})
    model = catalog.find("a/m")
    assert model is not None
    first, second = (order(model, name)[0] for name in ("a/m", "a/n"))
    assert first.state is second.state
    assert (first.name, second.name) == ("a/m", "a/n")


def test_a_target_has_its_name_for_the_model() -> None:
    catalog = build(m=([("a", "m-there", 1)], []), n=([("a", "", 1)], []))
    assert result(catalog, "m") == [("a", "m-there")]
    assert result(catalog, "n") == [("a", "")]


def test_a_wildcard_passes_the_requested_name() -> None:
    catalog = build(m_star=([("a", "", 1), ("b", "fixed", 1)], []))
    assert result(catalog, "m-5") == [("a", ""), ("b", "fixed")]


def test_fallbacks_come_after_all_targets_in_their_order() -> None:
    models: Any = {
        "m": ([("a", "1", 1), ("b", "2", 1)], ["y", "x"]),
        "x": ([("a", "x", 1)], []),
        "y": ([("c", "", 1)], []),
    }
    # A fallback's target takes the fallback's own name, not the requested one.
    low, high = build(**models), build(lambda: 0.9, **models)
    assert result(low, "m") == [("a", "1"), ("b", "2"), ("c", "y"), ("a", "x")]
    assert result(high, "m") == [("b", "2"), ("a", "1"), ("c", "y"), ("a", "x")]


def test_the_fallbacks_of_fallbacks_follow_them_once_each() -> None:
    catalog = build(
        m=([("a", "m", 1)], ["x", "y"]),
        x=([("a", "x", 1)], ["z"]),
        y=([("a", "y", 1)], ["z"]),
        z=([("a", "z", 1)], []),
    )
    assert [name for _, name in result(catalog, "m")] == ["m", "x", "z", "y"]


def test_models_with_the_same_fallback_share_its_group() -> None:
    catalog = build(m=([("a", "m", 1)], ["x"]), n=([("b", "n", 1)], ["x"]), x=([("c", "", 1)], []))
    own, *groups = (catalog.model(name).groups[-1] for name in ("x", "m", "n"))
    assert groups[0] is groups[1] is not own
    assert [target.model for group in (own, *groups) for target in group.targets] == ["", "x", "x"]


def test_a_model_is_not_its_own_fallback() -> None:
    catalog = build(m=([("a", "m", 1)], ["x"]), x=([("a", "x", 1)], ["m"]))
    assert [name for _, name in result(catalog, "m")] in (["m", "x"], ["m", "x", "m"])


def test_targets_of_one_model_have_separate_states() -> None:
    catalog = build(
        m=([("a", "x", 1), ("a", "y", 1), ("b", "x", 1)], []), n=([("a", "x", 1)], ["m"])
    )
    m, n = catalog.find("m"), catalog.find("n")
    assert m is not None
    assert n is not None
    states = [target.state for target in (*m.groups[0].targets, *n.groups[0].targets)]
    assert len({id(state) for state in states}) == 4
    # A target of a fallback is that of the fallback's model.
    assert [t.state for t in n.groups[1].targets] == [t.state for t in m.groups[0].targets]


def test_targets_that_get_requests_as_they_are_come_before_translated_ones_of_their_entry() -> None:
    model = build(
        random.Random(7).random,
        m=([("a", "1", 9), ("b", "2", 1), ("c", "3", 1)], ["x"]),
        x=([("b", "4", 1), ("a", "5", 1)], []),
    ).find("m")
    assert model is not None
    languages = {"a": "messages", "b": "", "c": None}
    targets = model.for_operation(lambda target: languages[target.upstream.name])
    orders = {"".join(t.model for t in order(targets)) for _ in range(100)}
    assert orders == {"2145"}


def test_a_model_whose_only_targets_are_its_fallbacks_begins_with_these() -> None:
    model = build(m=([("a", "1", 1)], ["x"]), x=([("b", "2", 1)], [])).find("m")
    assert model is not None
    targets = model.for_operation(lambda target: None if target.upstream is A else "")
    assert [t.model for t in order(targets)] == ["2"]


def test_a_model_is_the_same_for_an_operation_that_all_its_targets_have() -> None:
    model = build(m=([("a", "1", 1), ("b", "2", 1)], ["x"]), x=([("c", "", 1)], [])).find("m")
    assert model is not None
    assert model.for_operation(lambda target: "") is model
    assert model.for_operation(lambda target: "messages") is model
    partly = model.for_operation(lambda target: None if target.upstream is A else "")
    assert ([t.model for t in order(partly)], partly.groups[1]) == (["2", "x"], model.groups[1])


def test_fallbacks_stay_in_order_and_the_targets_of_each_are_drawn_by_weight() -> None:
    model = build(
        random.Random(7).random,
        m=([("a", "x", 1)], ["first", "second"]),
        first=([("a", "1", 1), ("b", "2", 3)], []),
        second=([("b", "3", 1), ("c", "4", 1)], []),
    ).find("m")
    assert model is not None
    counts = Counter("".join(t.model for t in order(model)) for _ in range(4_000))
    assert set(counts) == {"x1234", "x2134", "x1243", "x2143"}
    assert abs(counts["x2134"] + counts["x2143"] - 3_000) < 120
    assert abs(counts["x1234"] + counts["x2134"] - 2_000) < 120


def ruled(*rules: RuleConfig) -> ServedModel:
    """The model `m` with these rules, and the model `x`."""
    models = {
        "m": Model("m", (TargetConfig("a", "1", 1),), ("x",), "", "", 0, when=rules),
        "x": Model("x", (TargetConfig("b", "2", 1),), (), "", "", 0),
    }
    strategy = partial(choose.build, Services(dice=lambda: 0.0))
    model = build_catalog(models, {"a": A, "b": B, "c": C}, strategy).find("m")
    assert model is not None
    return model


def rule(conditions: Any, *targets: str, fallback: tuple[str, ...] = ()) -> RuleConfig:
    to = tuple(TargetConfig(name, "r", 1) for name in targets)
    return RuleConfig(conditions, to, fallback, Choice(), ())


def ruled_order(model: ServedModel, tier: str) -> tuple[int | None, list[str]]:
    """The rule that a request of this header meets, and its targets."""
    exchange = new_exchange(model="m", environ={"HTTP_X_TIER": tier})
    targets = list(model.for_request(exchange).order(exchange))
    return exchange.model.rule, [f"{t.upstream.name}/{t.model}" for t in targets]


def test_the_first_rule_that_holds_chooses_the_targets_without_those_of_the_model() -> None:
    model = ruled(
        rule({"header": {"x-tier": "gold"}}, "b"),
        rule({"header": {"x-tier": ["gold", "silver"]}}, "c", fallback=("m", "x")),
    )
    assert ruled_order(model, "gold") == (0, ["b/r"])
    assert ruled_order(model, "silver") == (1, ["c/r", "a/1", "b/2"])
    assert ruled_order(model, "none") == (None, ["a/1", "b/2"])


def test_a_rule_has_the_targets_that_have_the_operation() -> None:
    model = ruled(rule({"header": {"x-tier": "gold"}}, "b", "c"))
    partly = model.for_operation(lambda target: None if target.upstream is B else "")
    assert ruled_order(partly, "gold") == (0, ["c/r"])
    assert ruled_order(partly, "none") == (None, ["a/1"])
    assert model.for_operation(lambda target: "") is model
