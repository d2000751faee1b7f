"""The prices of models that the config says nothing of."""

import pytest

from engine.config import providers
from engine.config.default_prices import default_prices, priced_provider
from engine.values.price import price_of
from engine.values.price_list import Prices
from tests.support.configs import read_config

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
