"""Reading Prometheus's text format, held against prometheus_client's own parser."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.cli.top.exposition import read
from tests.support.metrics import Shown


def test_everything_is_read_as_prometheus_client_reads_it():
    shown = Shown()
    shown.request(model='odd "name"\\with\nall {of}, it="x"', seconds=3.0)
    shown.request()
    text = shown.text()
    theirs = [
        (sample.name, dict(sample.labels), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("modelway_")
    ]
    ours = [(n, dict(l), v) for n, found in read(text, ["modelway_"]).items() for l, v in found]  # noqa: E741
    assert sorted(ours, key=repr) == sorted(theirs, key=repr)


def test_only_what_is_wanted_is_read():
    assert read("a_total 1\nb_total 2\n", ["b"]) == {"b_total": [({}, 2.0)]}


@pytest.mark.parametrize(
    ("value", "number"), [("+Inf", math.inf), ("1e3", 1000.0), ("1 1700000000000", 1.0)]
)
def test_numbers_come_in_all_their_forms(value, number):
    assert read(f"a {value}\n", ["a"]) == {"a": [({}, number)]}


@pytest.mark.parametrize("line", ["a", "a{", 'a{b="c"}', "a nonsense", "<html>", "# a 1"])
def test_what_is_no_sample_is_passed_over(line):
    assert read(line, ["a"]) == {}
