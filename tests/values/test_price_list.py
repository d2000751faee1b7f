"""Which price a model has, and for which team."""

from decimal import Decimal

import pytest

from engine.values.price import price_of
from engine.values.price_list import Prices, TeamPriceList
from engine.values.usage import Usage

CHEAP, DEAR = price_of({"input": 1}), price_of({"input": 9})
PRICES = Prices({"small": CHEAP, "gpt-*": CHEAP}, {"groq": {"llama": DEAR, "gpt-5": DEAR}})


@pytest.mark.parametrize(
    ("model", "upstream", "upstream_model", "price"),
    [
        ("small", "groq", "llama", CHEAP),
        ("gpt-5", "groq", "gpt-5", CHEAP),
        ("large", "groq", "llama", DEAR),
        ("large", "groq", "unknown", None),
        ("large", "other", "llama", None),
        ("large", "", "", None),
    ],
)
def test_a_price_of_the_config_comes_before_that_of_the_provider(
    model, upstream, upstream_model, price
):
    assert PRICES.find(model, upstream, upstream_model) is price


def test_a_target_has_a_price_of_its_own_under_its_name():
    one, other, default = (price_of({"input": n}) for n in (1, 2, 3))
    prices = Prices({"up/there": one, "*": other}, {"up": {"there": default}})
    assert prices.find("model", "up", "there") is one
    assert prices.find("model", "up", "elsewhere") is other
    assert Prices({"up/there": one}, {"up": {"x": default}}).find("model", "up", "x") is default


TEN = Usage(input=10)
OWN = TeamPriceList(Decimal("12.5"), {"small": price_of({"input": 3}, "team lab")})
OF_TEAMS = Prices(
    {"small": CHEAP},
    {"groq": {"llama": price_of({"input": 8}, "groq 2026-07-02")}},
    {"lab": OWN, "free": TeamPriceList(Decimal(-100)), "plain": TeamPriceList()},
)


@pytest.mark.parametrize(
    ("team", "names", "nanos", "source"),
    [
        ("lab", ("small", "", ""), 30_000, "team lab"),
        ("lab", ("large", "groq", "llama"), 90_000, "groq 2026-07-02 +12.5%"),
        ("free", ("large", "groq", "llama"), 0, "groq 2026-07-02 -100%"),
        ("plain", ("large", "groq", "llama"), 80_000, "groq 2026-07-02"),
        ("other", ("large", "groq", "llama"), 80_000, "groq 2026-07-02"),
        ("", ("large", "groq", "llama"), 80_000, "groq 2026-07-02"),
    ],
)
def test_a_team_pays_its_own_price_then_the_vendors_with_its_markup(team, names, nanos, source):
    price = OF_TEAMS.of(team).find(*names)
    assert (price.cost(TEN), price.source) == (nanos, source)


def test_a_model_without_a_price_has_none_with_a_markup():
    assert OF_TEAMS.of("lab").find("huge", "groq", "huge") is None


@pytest.mark.parametrize(
    ("own", "text"),
    [(OWN, "+12.5%, own: small"), (TeamPriceList(), "+0%"), (TeamPriceList(Decimal(-5)), "-5%")],
)
def test_prices_of_a_team_as_a_text(own, text):
    assert str(own) == text
