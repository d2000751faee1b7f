"""The screen shows the activity and fits the terminal."""

import io

import pytest
from rich.console import Console

from engine.cli.top.figures import figures_of
from engine.cli.top.metrics import MetricsChange, Snapshot, parse_samples
from engine.cli.top.screen import render
from engine.telemetry.metrics import process, stores, upstreams
from tests.support.metrics import Shown


def snapshot(metrics, at=0.0):
    return Snapshot(at, parse_samples(metrics.text()))


def computed(fill):
    metrics = Shown()
    metrics[process.RELOAD_OK].set(1)
    before = snapshot(metrics)
    fill(metrics)
    return figures_of(MetricsChange(before, snapshot(metrics, 2.0)))


def screen_lines(figures, height=24, width=80, alert=""):
    console = Console(file=io.StringIO(), width=width, height=height or 100, color_system=None)
    console.print(render(figures, "modelway top", height, alert))
    return console.file.getvalue().splitlines()


def busy(metrics):
    for _ in range(8):
        metrics.request()
    metrics.request(outcome="failed")
    metrics.request("claude", "anthropic", "anthropic.createMessage", outcome="refused")


def test_totals_are_those_of_the_interval():
    figures = computed(busy)
    assert (figures.requests, figures.failed, figures.refused) == (5.0, 0.5, 0.5)
    assert (figures.tokens_in, figures.tokens_out) == (500.0, 250.0)
    assert figures.cost == {"USD": pytest.approx(180.0)}


def test_tables_begin_with_the_busiest():
    figures = computed(busy)
    assert [row.name for row in figures.models] == ["gpt-4o", "claude"]
    assert [row.name for row in figures.upstreams] == ["openai", "anthropic"]
    assert figures.operations[0].name == "openai.createChatCompletion"
    assert figures.models[0].tokens == 4.5 * 150  # cached tokens are part of the input


def test_an_open_breaker_comes_first_and_is_an_alert():
    def fill(metrics):
        busy(metrics)
        metrics[upstreams.BREAKER].labels("anthropic", "claude/claude-4").set(2)

    figures = computed(fill)
    assert (figures.upstreams[0].name, figures.upstreams[0].breaker) == ("anthropic", "open")
    assert figures.alerts == ["breaker open: claude/claude-4"]


@pytest.mark.parametrize(
    ("metric", "value", "alert"),
    [
        (stores.RECORDS_AWAY, 1, "the database of tokens cannot be reached"),
        (process.RELOAD_OK, 0, "the last reload of the config was refused"),
        (stores.LEDGER_AGE, 90, "the ledger is 90 s behind, 0 rows"),
    ],
)
def test_alerts(metric, value, alert):
    assert computed(lambda metrics: metrics[metric].set(value)).alerts == [alert]


def test_a_gateway_without_requests_has_no_alerts():
    lines = screen_lines(computed(lambda metrics: None))
    assert "requests 0/s" in lines[1]
    assert not any(line.startswith("!") for line in lines)


@pytest.mark.parametrize("height", [5, 8, 12, 24, 60])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_screen_fits_any_terminal(height, width):
    def fill(metrics):
        for n in range(30):
            metrics.request(f"a-model-with-a-long-name-{n}", f"upstream-{n}", f"spec.operation{n}")

    lines = screen_lines(computed(fill), height, width, "cannot reach anything " * 9)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_hidden_rows_are_counted():
    def fill(metrics):
        for n in range(30):
            metrics.request(f"model-{n}")

    assert any("MODEL (and 1" in line for line in screen_lines(computed(fill)))


def test_names_are_not_interpreted_as_markup():
    lines = screen_lines(computed(lambda metrics: metrics.request("[bold]x[/bold]")))
    assert any(line.startswith("[bold]x[/bold]") for line in lines)
