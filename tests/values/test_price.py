"""What usage costs, to the last nano-unit."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.price import PIECES, TOKENS, Price, price_of
from engine.values.usage import NO_USAGE, Usage

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
        ({"search": 0.002}, Usage(input=9, searches=3), 6_000_000),
        ({"input": 0.0004}, Usage(input=1), 0),  # 0.4 nano
        ({"input": 0.0005}, Usage(input=1), 1),  # half a nano is rounded up
    ],
)
def test_other_units(prices, usage, nanos):
    assert price_of(prices).cost(usage) == nanos


def test_nothing_costs_nothing():
    assert Price(input=9 * 10**18).cost(NO_USAGE) == 0


MILLION = 10**6
EVERY_KIND = {
    "input": 1,
    "output": 8,
    "cached_input": 0.1,
    "cache_write": 1.25,
    "cache_write_1h": 2,
    "reasoning": 9,
    "audio_input": 32,
    "cached_audio_input": 0.4,
    "audio_output": 64,
    "image_input": 5,
    "cached_image_input": 0.5,
    "image_output": 40,
}


@pytest.mark.parametrize(
    ("usage", "key"),
    [
        (Usage(input=MILLION), "input"),
        (Usage(output=MILLION), "output"),
        (Usage(input=MILLION, cached=MILLION), "cached_input"),
        (Usage(input=MILLION, cache_write=MILLION), "cache_write"),
        (Usage(input=MILLION, cache_write=MILLION, cache_write_1h=MILLION), "cache_write_1h"),
        (Usage(output=MILLION, reasoning=MILLION), "reasoning"),
        (Usage(input=MILLION, audio_input=MILLION), "audio_input"),
        (
            Usage(input=MILLION, cached=MILLION, audio_input=MILLION, cached_audio=MILLION),
            "cached_audio_input",
        ),
        (Usage(output=MILLION, audio_output=MILLION), "audio_output"),
        (Usage(input=MILLION, image_input=MILLION), "image_input"),
        (
            Usage(input=MILLION, cached=MILLION, image_input=MILLION, cached_image=MILLION),
            "cached_image_input",
        ),
        (Usage(output=MILLION, image_output=MILLION), "image_output"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tokens_of_a_kind_cost_the_price_of_the_kind_and_nothing_else(usage, key):
    assert price_of(EVERY_KIND).cost(usage) == EVERY_KIND[key] * 10**9


def test_there_is_a_test_for_every_price():
    assert set(EVERY_KIND) == set(TOKENS)


@pytest.mark.parametrize(
    ("prices", "key", "cost"),
    [
        ({"input": 3}, "cache_write", 3),
        ({"input": 3}, "cache_write_1h", 3),
        ({"input": 3, "cache_write": 4}, "cache_write_1h", 4),
        ({"output": 3}, "reasoning", 3),
        ({"output": 3}, "audio_output", 3),
        ({"output": 3}, "image_output", 3),
        ({"input": 3}, "audio_input", 3),
        ({"input": 3, "cached_input": 1}, "audio_input", 3),
        ({"input": 3, "cached_input": 1}, "cached_audio_input", 1),
        ({"input": 3, "audio_input": 9}, "cached_audio_input", 9),
        ({"input": 3, "cached_input": 1, "image_input": 9}, "cached_image_input", 1),
        ({"input": 3, "image_input": 9}, "cached_image_input", 9),
    ],
)
def test_a_price_that_is_left_out_is_that_of_another_kind(prices, key, cost):
    assert getattr(price_of(prices), key) == cost * 10**12


parts = st.integers(0, 10**6)
money = st.decimals(0, 1000, places=6).map(float)


@given(
    prices=st.fixed_dictionaries(dict.fromkeys((*TOKENS, *PIECES), money)),
    counts=st.lists(parts, min_size=11, max_size=11),
    cached_audio=parts,
    cached_image=parts,
)
def test_kinds_add_up_exactly(prices, counts, cached_audio, cached_image):
    plain, text_cached, write, write_1h, audio, image, out, thought, voice, drawn, images = counts
    usage = Usage(
        input=plain + text_cached + write + write_1h + audio + image + cached_audio + cached_image,
        cached=text_cached + cached_audio + cached_image,
        cache_write=write + write_1h,
        cache_write_1h=write_1h,
        audio_input=audio + cached_audio,
        cached_audio=cached_audio,
        image_input=image + cached_image,
        cached_image=cached_image,
        output=out + thought + voice + drawn,
        reasoning=thought,
        audio_output=voice,
        image_output=drawn,
        images=images,
    )
    tokens = dict(zip(TOKENS, map(Fraction, (str(prices[key]) for key in TOKENS)), strict=True))
    by_kind = {
        "input": plain,
        "output": out,
        "cached_input": text_cached,
        "cache_write": write,
        "cache_write_1h": write_1h,
        "reasoning": thought,
        "audio_input": audio,
        "cached_audio_input": cached_audio,
        "audio_output": voice,
        "image_input": image,
        "cached_image_input": cached_image,
        "image_output": drawn,
    }
    exact = sum(tokens[key] * count for key, count in by_kind.items()) * 1000
    exact += Fraction(str(prices["image"])) * images * 10**9
    assert price_of(prices).cost(usage) == int(exact + Fraction(1, 2))


TIERS = {
    "input": 1.25,
    "output": 10,
    "cached_input": 0.125,
    "tiers": [
        {"above": 200_000, "input": 2.5, "output": 15},
        {"above": 500_000, "input": 4},
    ],
}


@pytest.mark.parametrize(
    ("tokens", "nanos"),
    [
        (200_000, 200_000 * 1_250 + 10_000),
        (200_001, 200_001 * 2_500 + 15_000),
        (500_001, 500_001 * 4_000 + 10_000),
    ],
)
def test_a_request_beyond_a_tier_has_its_prices_for_all_tokens(tokens, nanos):
    assert price_of(TIERS).cost(Usage(input=tokens, output=1)) == nanos


def test_a_tier_leaves_out_the_prices_that_do_not_change():
    usage = Usage(input=300_000, cached=300_000)
    assert price_of(TIERS).cost(usage) == 300_000 * 125


def test_a_tier_is_chosen_by_all_of_the_input():
    usage = Usage(input=200_001, cached=200_000)
    assert price_of(TIERS).cost(usage) == 2_500 + 200_000 * 125


def test_counts_that_contradict_each_other_never_cost_less_than_nothing():
    price = price_of({"input": 1, "cached_input": 0})
    assert price.cost(Usage(input=1, cached=1_000)) == 0


def test_a_request_in_a_batch_costs_a_share():
    usage = Usage(input=1_000_000, output=3)
    tiers = [{"above": 100, "input": 4}]
    price = price_of({"input": 2, "output": 3, "tiers": tiers, "batch": 0.5})
    assert price.batch_cost(usage) * 2 == price.cost(usage)
    assert price_of({"input": 2}).batch_cost(usage) == price_of({"input": 2}).cost(usage)
    assert price_of({"input": 2}, "vendor", 0.25).batch_cost(usage) == 500_000_000
    assert price_of({"input": 2, "batch": 1}, "vendor", 0.25).batch_cost(usage) == 2_000_000_000


def test_a_price_times_a_factor_has_every_amount_times_it():
    price = price_of({**EVERY_KIND, "tiers": [{"above": 100, "input": 4}], "batch": 0.5}, "config")
    scaled = price.scaled(Decimal("1.2"), "config +20%")
    for key in (*TOKENS, *PIECES):
        assert Fraction(getattr(scaled, key)) == Fraction(getattr(price, key)) * Fraction(6, 5)
    assert scaled.tiers[0].price.input * 5 == price.tiers[0].price.input * 6
    assert (scaled.batch, scaled.source) == (0.5, "config +20%")
