"""Modelway's samples in what a gateway's metrics page answers."""

import pytest

from engine.cli.top.source import samples_of
from tests.support.metrics import Shown


def test_labels_are_unescaped():
    shown = Shown()
    model = 'odd "name"\\with\nall {of}, it="x"'
    shown.request(model=model)
    (found,) = (s for s in samples_of(shown.text())["modelway_requests_total"] if s[1])
    assert found[0]["model"] == model


def test_metrics_of_other_programs_are_left_out():
    text = "modelway_requests_total 1\nother_total 2\n"
    assert samples_of(text) == {"modelway_requests_total": [({}, 1.0)]}


@pytest.mark.parametrize("text", ["<html>", "modelway_requests_total nonsense"])
def test_text_that_is_not_in_prometheus_format_is_an_error(text):
    with pytest.raises(ValueError):
        samples_of(text)
