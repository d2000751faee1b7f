"""What was used, and what it costs, to the last nano-unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.usage import NOTHING, OutputFields, Price, Usage, price_of

COUNTS = st.integers(0, 10**9)


@given(COUNTS, COUNTS, COUNTS)
def test_a_price_is_exact(input_tokens, output, images):
    price = price_of({"input": 0.15, "output": 0.6, "image": 0.04})
    nanos = input_tokens * 150 + output * 600 + images * 40_000_000
    assert price.cost(Usage(input=input_tokens, output=output, images=images)) == nanos


def test_cached_tokens_have_their_own_price_or_that_of_input():
    usage = Usage(input=1000, cached=400)
    assert price_of({"input": 2, "cached_input": 1}).cost(usage) == 600 * 2000 + 400 * 1000
    assert price_of({"input": 2}).cost(usage) == 1000 * 2000
    assert price_of({"input": 2, "cached_input": 0}).cost(usage) == 600 * 2000


@pytest.mark.parametrize(
    ("prices", "usage", "nanos"),
    [
        ({"second": 0.0001}, Usage(seconds=12.5), 1_250_000),
        ({"character": 0.000015}, Usage(characters=7), 105_000),
        ({"input": 0.0004}, Usage(input=1), 0),  # 0.4 nano
        ({"input": 0.0005}, Usage(input=1), 1),  # half a nano is rounded up
    ],
)
def test_other_units(prices, usage, nanos):
    assert price_of(prices).cost(usage) == nanos


def test_nothing_costs_nothing():
    assert Price(input=9 * 10**18).cost(NOTHING) == 0


@pytest.mark.parametrize(
    ("first", "second", "sum_is"),
    [
        ("upstream", "upstream", "upstream"),
        ("upstream", "estimated", "estimated"),
        ("none", "upstream", "upstream"),
        ("none", "none", "none"),
    ],
)
def test_a_sum_is_as_sure_as_its_least_sure_part(first, second, sum_is):
    both = Usage(input=1, seconds=0.5, source=first) + Usage(input=2, output=3, source=second)
    assert both == Usage(input=3, output=3, seconds=0.5, source=sum_is)
    assert both.input + both.output == 6


FIELDS = OutputFields(
    limits=(("max_tokens",), ("generationConfig", "maxOutputTokens")),
    answers=(("generationConfig", "candidateCount"), ("n",)),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("members", {"max_tokens", "generationConfig", "n"}),
        ("limit_members", {"max_tokens", "generationConfig"}),
        ("simple_limits", {"max_tokens"}),
    ],
)
def test_top_level_keys(name, expected):
    assert getattr(FIELDS, name) == expected


def test_no_fields_have_no_keys():
    assert OutputFields().members == frozenset()
