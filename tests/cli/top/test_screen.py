"""The screen shows the activity and fits the terminal."""

import io

import pytest
from rich.console import Console

from engine.cli.top.screen import render
from tests.support.metrics import figures_after


def screen_lines(figures, height=24, width=80, alert=""):
    console = Console(file=io.StringIO(), width=width, height=height or 100, color_system=None)
    console.print(render(figures, "modelway top", height, alert))
    return console.file.getvalue().splitlines()


def test_a_gateway_without_requests_has_no_alerts():
    lines = screen_lines(figures_after(lambda metrics: None))
    assert "requests 0/s" in lines[1]
    assert not any(line.startswith("!") for line in lines)


@pytest.mark.parametrize("height", [5, 8, 12, 24, 60])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_screen_fits_any_terminal(height, width):
    def fill(metrics):
        for n in range(30):
            metrics.request(f"a-model-with-a-long-name-{n}", f"upstream-{n}", f"spec.operation{n}")

    lines = screen_lines(figures_after(fill), height, width, "cannot reach anything " * 9)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_hidden_rows_are_counted():
    def fill(metrics):
        for n in range(30):
            metrics.request(f"model-{n}")

    assert any("MODEL (and 1" in line for line in screen_lines(figures_after(fill)))


def test_names_are_not_interpreted_as_markup():
    lines = screen_lines(figures_after(lambda metrics: metrics.request("[bold]x[/bold]")))
    assert any(line.startswith("[bold]x[/bold]") for line in lines)
