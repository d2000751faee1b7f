"""The prices of models that the config says nothing of."""

from decimal import Decimal

import pytest

from engine.config import providers
from engine.config.prices import default_prices, priced_provider, prices_of
from engine.values.price import price_of
from engine.values.price_list import Prices
from tests.support.configs import read_config, read_errors

BASE = "prices: {m: {input: 1}}\n"


def cost_of(config, team):
    return prices_of(config).of(team).find("m").input // 10**12


def test_a_team_without_prices_has_those_of_the_team_above():
    config = read_config(
        BASE + "teams:\n"
        "  a: {prices: {markup: 100%}}\n"
        "  b: {in: a}\n"
        "  c: {in: b, prices: {models: {m: {input: 7}}}}\n"
        "  d: {}\n"
    )
    assert [cost_of(config, team) for team in ("a", "b", "c", "d", "")] == [2, 2, 7, 1, 1]


def test_a_markup_is_exact():
    config = read_config(BASE + "teams: {a: {prices: {markup: -12.5%}}}\n")
    assert config.team_prices["a"].markup == Decimal("-12.5")


def test_a_markup_that_leaves_less_than_nothing_is_refused():
    (error,) = read_errors(BASE + "teams: {a: {prices: {markup: -100.5%}}}\n")
    assert error[-1] == "MW560"
    assert read_config(BASE + "teams: {a: {prices: {markup: -100%}}}\n")


def test_a_markup_is_a_percentage():
    assert read_errors(BASE + "teams: {a: {prices: {markup: 20}}}\n")
    assert read_errors(BASE + "teams: {a: {prices: {}}}\n")


GROQ = "upstreams: {fast: {provider: groq, credential: {bearer: key}}}\n"


def test_the_provider_of_an_upstream_has_the_prices_of_its_models():
    prices = default_prices(read_config(GROQ))
    model = providers.read("groq").models["llama-3.3-70b-versatile"]
    assert model.price is not None
    assert prices["fast"]["llama-3.3-70b-versatile"] == price_of(model.price)


def test_a_price_names_its_provider_and_date():
    price = default_prices(read_config(GROQ))["fast"]["llama-3.3-70b-versatile"]
    assert price.source == f"groq {providers.read('groq').date}"


def test_a_price_of_the_config_comes_first_and_says_so():
    config = read_config(GROQ + "prices: {big: {input: 7}}\n")
    prices = Prices(config.prices, default_prices(config))
    price = prices.find("big", "fast", "llama-3.3-70b-versatile")
    other = prices.find("other", "fast", "llama-3.3-70b-versatile")
    assert price == price_of({"input": 7})
    assert price is not None
    assert price.source == "config"
    assert other is not None
    assert other.source.startswith("groq ")


@pytest.mark.parametrize("model", ["unknown", "whisper-large-v3"])
def test_a_model_that_the_provider_has_no_price_of_has_none(model):
    assert model not in default_prices(read_config(GROQ))["fast"]


@pytest.mark.parametrize(
    ("name", "currency"),
    [("", "USD"), ("groq", "EUR"), ("azure", "USD")],
    ids=["no provider", "another currency", "the operator's names"],
)
def test_upstreams_without_default_prices(name, currency):
    assert priced_provider(name, read_config(f"currency: {currency}\n")) is None


def test_every_price_of_every_provider_can_be_read():
    for name in providers.names():
        for model in providers.read(name).models.values():
            assert model.price is None or price_of(model.price).input >= 0
