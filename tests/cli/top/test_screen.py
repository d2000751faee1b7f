"""What the screen shows, and that it fits."""

import io

import pytest
from rich.console import Console

from engine.cli.top.change import Change, Look
from engine.cli.top.figures import figures
from engine.cli.top.screen import screen
from engine.cli.top.source import samples_of
from engine.cli.top.words import (
    money,
    number,
    seconds,
    share,
)
from engine.telemetry.metrics import process, stores, upstreams
from tests.support.metrics import Shown


def look(shown, at=0.0):
    return Look(at, samples_of(shown.text()))


def computed(fill):
    shown = Shown()
    shown[process.RELOAD_OK].set(1)
    before = look(shown)
    fill(shown)
    return figures(Change(before, look(shown, 2.0)))


def drawn(told, height=24, width=80, trouble=""):
    console = Console(file=io.StringIO(), width=width, height=height or 100, color_system=None)
    console.print(screen(told, "modelway top", height, trouble))
    return console.file.getvalue().splitlines()


def busy(shown):
    for _ in range(8):
        shown.request()
    shown.request(outcome="failed")
    shown.request("claude", "anthropic", "anthropic.createMessage", outcome="refused")


def test_the_totals_are_those_of_the_time_in_between():
    told = computed(busy)
    assert (told.requests, told.failed, told.refused) == (5.0, 0.5, 0.5)
    assert (told.tokens_in, told.tokens_out) == (500.0, 250.0)
    assert told.cost == {"USD": pytest.approx(180.0)}


def test_models_upstreams_and_operations_stand_with_the_busiest_first():
    told = computed(busy)
    assert [row.name for row in told.models] == ["gpt-4o", "claude"]
    assert [side.name for side in told.upstreams] == ["openai", "anthropic"]
    assert told.operations[0].name == "openai.createChatCompletion"
    assert told.models[0].tokens == 4.5 * 150  # cached ones are among those that came in


def test_an_open_breaker_is_shown_first_and_said_above():
    def fill(shown):
        busy(shown)
        shown[upstreams.BREAKER].labels("anthropic", "claude/claude-4").set(2)

    told = computed(fill)
    assert (told.upstreams[0].name, told.upstreams[0].breaker) == ("anthropic", "open")
    assert told.troubles == ["breaker open: claude/claude-4"]


@pytest.mark.parametrize(
    ("metric", "value", "words"),
    [
        (stores.RECORDS_AWAY, 1, "the database of tokens is away"),
        (process.RELOAD_OK, 0, "the last reload of the config was refused"),
        (stores.LEDGER_AGE, 90, "the ledger is 90 s behind, 0 rows"),
    ],
)
def test_what_somebody_has_to_see_is_said(metric, value, words):
    assert computed(lambda shown: shown[metric].set(value)).troubles == [words]


def test_nothing_at_all_is_drawn_as_nothing():
    lines = drawn(computed(lambda shown: None))
    assert "requests 0/s" in lines[1]
    assert not any(line.startswith("!") for line in lines)


@pytest.mark.parametrize("height", [5, 8, 12, 24, 60])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_fits_any_terminal(height, width):
    def fill(shown):
        for n in range(30):
            shown.request(f"a-model-with-a-long-name-{n}", f"upstream-{n}", f"spec.operation{n}")

    lines = drawn(computed(fill), height, width, "cannot reach anything " * 9)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_rows_that_have_no_room_are_counted():
    def fill(shown):
        for n in range(30):
            shown.request(f"model-{n}")

    assert any("MODEL (and 1" in line for line in drawn(computed(fill)))


def test_names_are_no_markup():
    lines = drawn(computed(lambda shown: shown.request("[bold]x[/bold]")))
    assert any(line.startswith("[bold]x[/bold]") for line in lines)


def test_numbers_are_short():
    assert [seconds(x) for x in (None, 0.0004, 0.25, 1.5, 42.0, 125.0)] == [
        *("-", "0.4ms", "250ms", "1.50s", "42.0s", "2m05s")
    ]
    assert [number(x) for x in (None, 0, 0.03, 12.34, 1234.0, 56_700.0, 2e6)] == [
        *("-", "0", "0.03", "12.3", "1234", "56.7k", "2.0M")
    ]
    assert [share(1, n) for n in (0, 300, 8)] == ["-", "0.3%", "12%"]
    assert [money(x) for x in (0, 0.0042, 1.25, 1234.5)] == ["0", "0.0042", "1.25", "1234"]
