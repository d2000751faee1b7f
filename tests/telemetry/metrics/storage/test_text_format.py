"""The text format is read and written as prometheus_client does it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.utils import floatToGoString

from engine.telemetry.metrics.storage.text_format import (
    Sample,
    number_text,
    read_families,
    read_samples,
)
from tests.support.each import each
from tests.support.metrics import MetricsPage


@pytest.fixture(scope="module")
def page() -> str:
    metrics = MetricsPage()
    metrics.request(model='odd "name"\\with\nall {of}, it="x"')
    return metrics.text()


@given(st.floats())
def test_numbers_are_those_of_prometheus_client(number: float) -> None:
    text = number_text(number)
    assert math.isnan(number) or float(text) == number
    assert text == floatToGoString(number) or number >= 1e11  # where its exponents have a 0 more


def test_families_are_those_of_prometheus_client(page: str) -> None:
    families = {
        (family.name, family.type, family.help): [
            (sample.name, sample.labels, sample.value) for sample in family.samples
        ]
        for family in read_families(page)
    }
    assert len(families) > 50
    assert families == {
        (family.name, family.type, family.documentation): [
            (sample.name, sample.labels, sample.value) for sample in family.samples
        ]
        for family in text_string_to_metric_families(page)
    }


def test_samples_are_those_of_the_families(page: str) -> None:
    families = list(read_families(page))
    assert list(read_samples(page)) == [s for family in families for s in family.samples]


@each(
    "line, sample",
    [
        ("m 1", Sample("m", {}, 1.0)),
        ("  m\t+Inf ", Sample("m", {}, math.inf)),
        ("m{} 2", Sample("m", {}, 2.0)),
        ("m1 2", Sample("m1", {}, 2.0)),
        ('m{a="x"} 1e+06', Sample("m", {"a": "x"}, 1e6)),
        ('m { a = "x" , b="}" , } 1 1700000000000', Sample("m", {"a": "x", "b": "}"}, 1.0)),
        (r'm{a="\\\"\n\t"} 1', Sample("m", {"a": '\\"\n\\t'}, 1.0)),
    ],
)
def test_a_sample_is_read(line: str, sample: Sample) -> None:
    assert list(read_samples(f"# a comment\n\n{line}\n")) == [sample]


@each(
    "line",
    ["m", "m1", "<html>", 'm{a="x"', 'm{a="x} 1', "m{a=x} 1", 'm{a="x"b="y"} 1', "m y", "1 1"],
)
def test_another_format_is_refused(line: str) -> None:
    for read in (read_samples, read_families):
        try:
            list(read(f"# TYPE m gauge\n{line}\n"))
        except ValueError:
            continue
        raise AssertionError(read)
