"""What happened between two looks."""

import pytest

from engine.cli.top.change import Change, Look
from engine.cli.top.source import samples_of


def change(before, now, seconds=2.0):
    return Change(Look(10.0, samples(before)), Look(10.0 + seconds, samples(now)))


def samples(text):
    """Samples of metrics whose names are written short here: `m` stands for `modelway_m`."""
    named = samples_of("".join(f"modelway_{line}\n" for line in text.splitlines()))
    return {name.removeprefix("modelway_"): found for name, found in named.items()}


def buckets(*counts):
    bounds = ("0.1", "1", "+Inf")
    return "".join(f'm_bucket{{le="{b}"}} {n}\n' for b, n in zip(bounds, counts, strict=True))


def test_a_rate_is_what_was_added_a_second():
    assert change('m{a="1"} 4\nm{a="2"} 1', 'm{a="1"} 8\nm{a="2"} 3').rate("m") == 3.0


def test_a_counter_that_is_new_began_at_nothing():
    assert change("", "m 4").rate("m") == 2.0


def test_a_counter_that_is_smaller_began_anew():
    assert change("m 100", "m 4").rate("m") == 2.0


def test_rates_are_told_by_a_label_and_those_that_stand_still_are_there():
    told = change('m{a="x"} 1\nm{a="y"} 1', 'm{a="x"} 3\nm{a="y"} 1').rates("m", "a")
    assert told == {"x": 1.0, "y": 0.0}


def test_which_samples_count_can_be_said():
    counted = change("", 'm{a="x"} 3\nm{a="y"} 1').rate("m", lambda labels: labels["a"] == "y")
    assert counted == 0.5


def test_a_gauge_is_what_it_is_now():
    assert change("m 9", "m 4").gauge("m") == 4.0
    assert change("", "").gauge("m") is None


@pytest.mark.parametrize(
    ("counts", "median"),
    [
        ((10, 10, 10), 0.05),
        ((0, 10, 10), 0.55),
        ((4, 10, 10), 0.25),
        ((0, 0, 10), 1.0),
        ((0, 0, 0), None),
    ],
)
def test_quantiles_are_prometheus_own(counts, median):
    (found,) = change("", buckets(*counts)).quantiles("m", (0.5,))
    assert found == (None if median is None else pytest.approx(median))


def test_quantiles_are_of_what_came_in_between():
    (found,) = change(buckets(100, 100, 100), buckets(100, 110, 110)).quantiles("m", (0.5,))
    assert found == pytest.approx(0.55)


def test_no_time_between_two_looks_is_no_error():
    assert change("m 1", "m 1", seconds=0.0).rate("m") == 0.0
