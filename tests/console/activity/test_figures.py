"""The figures of `modelway top`: what two snapshots of the metrics come to."""

import pytest

from engine.callers import metrics as callers
from engine.stores.ledger import metrics as ledger
from engine.telemetry.metrics import process
from engine.upstream.health import watched_target as health
from engine.upstream.targets import metrics as upstreams
from tests.support.metrics import figures_after


def busy(metrics):
    for _ in range(8):
        metrics.request()
    metrics.request(outcome="failed")
    metrics.request("claude", "anthropic", "anthropic.createMessage", outcome="refused")


def test_totals_are_those_of_the_interval():
    figures = figures_after(busy)
    assert (figures.requests, figures.failed, figures.refusals) == (5.0, 0.5, 0.5)
    assert (figures.tokens_in, figures.tokens_out) == (500.0, 250.0)
    assert figures.cost == {"USD": pytest.approx(180.0)}


def test_tables_begin_with_the_busiest():
    figures = figures_after(busy)
    assert [row.name for row in figures.models] == ["gpt-4o", "claude"]
    assert [row.name for row in figures.upstreams] == ["openai", "anthropic"]
    assert figures.operations[0].name == "openai.createChatCompletion"
    assert figures.models[0].tokens == 4.5 * 150  # cached tokens are part of the input


def test_an_open_breaker_comes_first_and_is_an_alert():
    def fill(metrics):
        busy(metrics)
        metrics[upstreams.BREAKER].labels("anthropic", "claude/claude-4").set(2)

    figures = figures_after(fill)
    assert (figures.upstreams[0].name, figures.upstreams[0].breaker) == ("anthropic", "open")
    assert figures.alerts == ["breaker open: claude/claude-4"]


@pytest.mark.parametrize(("state", "alerts"), [
    (0, []), (1, []), (2, []), (3, ["target limited: claude/claude-4"]),
    (4, ["target ejected: claude/claude-4"]), (5, ["target failing: claude/claude-4"]),
])  # fmt: skip
def test_a_target_that_is_out_is_an_alert(state, alerts):
    def fill(metrics):
        metrics[health.HEALTH].labels("anthropic", "claude/claude-4").set(state)

    assert figures_after(fill).alerts == alerts


@pytest.mark.parametrize(
    ("metric", "value", "alert"),
    [
        (callers.RECORDS_AWAY, 1, "the database of tokens cannot be reached"),
        (process.RELOAD_OK, 0, "the last reload of the config was refused"),
        (ledger.LEDGER_AGE, 90, "the ledger is 90 s behind, 0 rows"),
    ],
)
def test_alerts(metric, value, alert):
    assert figures_after(lambda metrics: metrics[metric].set(value)).alerts == [alert]


def test_requests_without_a_model_come_last_under_a_word():
    def fill(metrics):
        metrics.request("")
        metrics.request("")
        metrics.request("gpt-4o")

    assert [row.name for row in figures_after(fill).models] == ["gpt-4o", "(none)"]


def test_nothing_happened_is_no_division_by_zero():
    figures = figures_after(lambda metrics: None)
    assert (figures.requests, figures.models, figures.upstreams) == (0.0, [], [])
    assert figures.duration == (None, None)
