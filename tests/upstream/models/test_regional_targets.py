"""The targets in required regions."""

import pytest

from engine.config.models import Choice, Model, TargetConfig
from engine.upstream import choose
from engine.upstream.models.build_catalog import build_catalog, fixed_targets
from engine.upstream.models.regional_targets import (
    RegionalGroup,
    RegionalModels,
    are_within,
    region_text,
)
from engine.values.caller import Caller, Team
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.upstreams import SERVICES, Client, upstream

REGIONS = {"us": ("us",), "eu": ("eu",), "both": ("eu", "us"), "silent": ()}


@pytest.fixture
def upstreams():
    made = {name: upstream(Client(), name=name, dialect="openai") for name in REGIONS}
    for name, regions in REGIONS.items():
        made[name].regions = regions
    return made


def model(upstreams, *names, fallback=()):
    entries = {"m": names, "f": fallback}
    models = {
        name: Model(
            name,
            tuple(TargetConfig(u, "", 1.0) for u in to),
            ("f",) if name == "m" else (),
            name,
            "me",
            0,
        )
        for name, to in entries.items()
    }
    catalog = build_catalog(models, upstreams, lambda choice: choose.build(SERVICES, choice))
    return catalog.find("m")


def caller(*lists):
    teams = tuple(Team(f"t{n}", regions=regions) for n, regions in enumerate(lists))
    return Caller("ann", teams=teams)


def names(served):
    return [[t.upstream.name for t in group.configured] for group in served.groups]


def test_targets_elsewhere_are_left_out_of_the_model_and_its_fallbacks(upstreams):
    served = model(upstreams, "us", "eu", "both", fallback=("silent", "eu"))
    regional = RegionalModels((), may_lack=False)
    assert names(regional.of(served, caller(("eu",)))) == [["eu"], ["eu"]]


def test_what_route_and_teams_require_holds_together(upstreams):
    served = model(upstreams, "us", "eu", "both", fallback=("eu",))
    regional = RegionalModels((("eu", "us"),), may_lack=False)
    assert names(regional.of(served, None)) == [["us", "eu", "both"], ["eu"]]
    assert names(regional.of(served, caller(("eu",)))) == [["eu"], ["eu"]]


def test_without_a_requirement_the_model_is_the_same(upstreams):
    served = model(upstreams, "us", fallback=("us",))
    assert RegionalModels((), may_lack=False).of(served, caller()) is served


def test_a_requirement_is_applied_once(upstreams):
    served, regional = model(upstreams, "us", "eu"), RegionalModels((), may_lack=False)
    assert regional.of(served, caller(("eu",))) is regional.of(served, caller(("eu",)))


def test_a_model_without_a_target_is_refused(upstreams):
    served = model(upstreams, "us", fallback=("both",))
    with pytest.raises(GatewayError) as raised:
        RegionalModels((), may_lack=False).of(served, caller(("eu",)))
    assert (raised.value.status, raised.value.code) == (403, "region_not_allowed")
    assert RegionalModels((), may_lack=True).of(served, caller(("eu",))).groups == ()


def test_fixed_targets_elsewhere_are_left_out(upstreams):
    to = [TargetConfig(name, "", 1.0) for name in ("us", "eu")]
    group = fixed_targets(to, upstreams, choose.build(SERVICES, Choice()))
    regional = RegionalGroup(group, ())
    exchange = new_exchange()
    exchange.caller = caller(("eu",))
    assert [t.upstream.name for t in regional.order(exchange)] == ["eu"]
    exchange.caller = None
    assert len(regional.order(exchange)) == 2
    exchange.caller = caller(("ch",))
    with pytest.raises(GatewayError, match="region that is required: ch"):
        regional.order(exchange)


@pytest.mark.parametrize(
    ("regions", "lists", "expected"),
    [
        (["eu"], [("eu",)], True),
        (["us"], [("eu",)], False),
        (["eu", "us"], [("eu",)], False),
        (["eu", "us"], [("us", "eu")], True),
        (["eu-west"], [("eu-*",)], True),
        (["eu-west"], [("eu-*",), ("eu-north",)], False),
        ([], [("*",)], False),
    ],
)
def test_every_region_must_match_each_list(regions, lists, expected):
    assert are_within(regions, tuple(lists)) is expected


def test_a_requirement_is_a_text():
    assert region_text((("eu", "ch"), ("eu-*",))) == "eu or ch and eu-*"
