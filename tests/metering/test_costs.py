"""What reports of usage cost: cases in tests/cases/usage/costs.yaml, computed by hand."""

import orjson
import pytest

from engine import dialects
from engine.config import providers
from engine.metering.readers import reader
from engine.values.price import PIECES, TOKENS, price_of
from tests.support import paths, yaml_text
from tests.support.each import each

CASES = yaml_text.load((paths.CASES / "usage/costs.yaml").read_text())


@each(("title", "case"), [pytest.param(*pair, id=pair[0]) for pair in CASES.items()])
def test_a_report_costs_what_it_does_by_hand(title, case):
    usage_reader = reader(dialects.get(case["dialect"]).meter, "application/json")
    usage_reader.feed(orjson.dumps(case["answer"]))
    usage = usage_reader.reported()
    assert usage is not None, title
    assert price_of(case["price"]).cost(usage) == case["cost"], usage


def test_every_kind_of_price_has_a_case():
    used = {key for case in CASES.values() for key in case["price"]}
    assert used == {*TOKENS, *PIECES, "tiers"} - {"character"}  # known from the request alone


@each("name", providers.names())
def test_a_million_tokens_of_every_model_cost_what_the_file_of_its_provider_says(name):
    for model in providers.read(name).models.values():
        if model.price is not None and "input" in model.price:
            base = {key: value for key, value in model.price.items() if key != "tiers"}
            from_file = price_of(base)
            assert from_file.input == round(float(model.price["input"]) * 10**12), model.name
            assert from_file.cached_input <= max(from_file.input, from_file.output), model.name


@each("name", providers.names())
def test_what_costs_as_another_kind_does_so_in_every_tier(name):
    """A price that only repeats that of another kind would stay behind in a tier."""
    for model in providers.read(name).models.values():
        if model.price is not None:
            price = price_of(model.price)
            for key, other in TOKENS.items():
                same = bool(other) and getattr(price, key) == getattr(price, other)
                for tier in price.tiers if same else ():
                    assert getattr(tier.price, key) == getattr(tier.price, other), model.name


@each("name", providers.names())
def test_writing_to_a_cache_costs_no_less_than_reading_anew(name):
    """Some lists have the price of storing alone, to which that of the input is added."""
    for model in providers.read(name).models.values():
        if model.price is not None and not model.name.lower().endswith("-highspeed"):
            price = price_of(model.price)
            assert price.cache_write >= price.input, model.name
