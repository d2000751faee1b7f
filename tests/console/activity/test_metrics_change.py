"""The metrics page is parsed, and two snapshots are compared."""

import pytest

from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from tests.support.metrics import MetricsPage


def change(before, now, seconds=2.0):
    return MetricsChange(Snapshot(10.0, samples(before)), Snapshot(10.0 + seconds, samples(now)))


def samples(text):
    """Samples of metrics, written here without the prefix `modelway_`."""
    samples = parse_samples("".join(f"modelway_{line}\n" for line in text.splitlines()))
    return {name.removeprefix("modelway_"): values for name, values in samples.items()}


def buckets(*counts):
    bounds = ("0.1", "1", "+Inf")
    return "".join(f'm_bucket{{le="{b}"}} {n}\n' for b, n in zip(bounds, counts, strict=True))


def test_a_rate_is_the_increase_per_second():
    assert change('m{a="1"} 4\nm{a="2"} 1', 'm{a="1"} 8\nm{a="2"} 3').rate("m") == 3.0


def test_a_new_counter_starts_at_zero():
    assert change("", "m 4").rate("m") == 2.0


def test_a_smaller_counter_was_reset():
    assert change("m 100", "m 4").rate("m") == 2.0


def test_rates_by_label_include_those_that_did_not_grow():
    rates = change('m{a="x"} 1\nm{a="y"} 1', 'm{a="x"} 3\nm{a="y"} 1').rates("m", "a")
    assert rates == {"x": 1.0, "y": 0.0}


def test_samples_can_be_selected():
    rate = change("", 'm{a="x"} 3\nm{a="y"} 1').rate("m", lambda labels: labels["a"] == "y")
    assert rate == 0.5


def test_a_gauge_has_its_present_value():
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
def test_quantiles_are_those_of_prometheus(counts, median):
    (quantile,) = change("", buckets(*counts)).quantiles("m", (0.5,))
    assert quantile == (None if median is None else pytest.approx(median))


def test_quantiles_are_of_new_observations():
    (quantile,) = change(buckets(100, 100, 100), buckets(100, 110, 110)).quantiles("m", (0.5,))
    assert quantile == pytest.approx(0.55)


def test_two_snapshots_at_the_same_time_are_accepted():
    assert change("m 1", "m 1", seconds=0.0).rate("m") == 0.0


def test_labels_are_unescaped():
    metrics = MetricsPage()
    model = 'odd "name"\\with\nall {of}, it="x"'
    metrics.request(model=model)
    (sample,) = (s for s in parse_samples(metrics.text())["modelway_requests_total"] if s[1])
    assert sample[0]["model"] == model


def test_metrics_of_other_programs_are_ignored():
    text = "modelway_requests_total 1\nother_total 2\n"
    assert parse_samples(text) == {"modelway_requests_total": [({}, 1.0)]}


@pytest.mark.parametrize("text", ["<html>", "modelway_requests_total nonsense"])
def test_text_that_is_not_in_prometheus_format_is_an_error(text):
    with pytest.raises(ValueError):
        parse_samples(text)
