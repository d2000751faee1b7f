"""`modelway top --once` reads a metrics server, and explains why it cannot."""

import json

import pytest
from click.testing import CliRunner

from engine.cli import main
from engine.cli.top.metrics import MetricsSource, MetricsUnavailable
from tests.support.metrics import MetricsPage
from tests.support.peer import READ, answering, scripted, serving


def answer(text, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def top(*arguments):
    return CliRunner().invoke(main, ["top", *arguments])


def test_once_prints_the_activity():
    metrics = MetricsPage()
    before = metrics.text()
    for _ in range(4):
        metrics.request("gpt-4o-mini")
    with serving(scripted([READ, answer(before), READ, answer(metrics.text())])) as peer:
        result = top("--once", "--every", "0.2", "--url", peer.url)
    assert result.exit_code == 0, result.output
    assert "gpt-4o-mini" in result.output
    assert peer.requests[0].startswith(b"GET /metrics HTTP/1.1\r\n")


def test_nothing_is_cut_where_standard_output_is_no_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    name = "a-model-with-a-name-that-is-longer-than-the-terminal-is-wide-" * 3
    metrics = MetricsPage()
    before = metrics.text()
    metrics.request(name)
    with serving(scripted([READ, answer(before), READ, answer(metrics.text())])) as peer:
        output = top("--once", "--every", "0.2", "--url", peer.url).output
    assert f"{name} " in output
    assert "…" not in output


def test_once_prints_the_figures_as_json():
    metrics = MetricsPage()
    before = metrics.text()
    metrics.request("gpt-4o-mini")
    with serving(scripted([READ, answer(before), READ, answer(metrics.text())])) as peer:
        figures = json.loads(top("--once", "--json", "--every", "0.2", "--url", peer.url).stdout)
    assert [model["name"] for model in figures["models"]] == ["gpt-4o-mini"]
    assert figures["requests"] > 0


def test_the_live_view_has_no_json():
    result = top("--json", "--url", "http://127.0.0.1:9/metrics")
    assert (result.exit_code, "needs --once" in result.output) == (2, True)


def test_the_path_of_the_url_is_requested():
    with serving(answering(answer(MetricsPage().text()))) as peer:
        MetricsSource(f"{peer.url}/own/path").read()
    assert peer.requests[0].startswith(b"GET /own/path HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (answer("", "403 Forbidden"), "add its address to telemetry.allow_ips"),
        (answer("", "404 Not Found"), "there are no metrics at"),
        (answer("<html>"), "has no metrics of Modelway"),
        ("close", "is the gateway running?"),
    ],
)
def test_failures_are_explained(response, message):
    with serving(answering(response)) as peer:
        result = top("--once", "--url", peer.url)
    assert result.exit_code == 1
    assert message in result.output


def test_an_unreachable_gateway_is_named():
    result = top("--once", "--url", "http://127.0.0.1:9/metrics")
    assert result.exit_code == 1
    assert "cannot reach http://127.0.0.1:9/metrics" in result.output


def test_an_invalid_url_is_refused():
    with pytest.raises(MetricsUnavailable):
        MetricsSource("ftp://x")


def test_the_live_view_needs_a_terminal():
    with serving(answering(answer(MetricsPage().text()))) as peer:
        result = top("--url", peer.url)
    assert result.exit_code == 1
    assert "use --once" in result.output


def test_the_url_comes_from_the_config(tmp_path):
    config = tmp_path / "gateway.yaml"
    for telemetry, message in (
        ("{listen: '127.0.0.1:9', metrics: /m}", "http://127.0.0.1:9/m"),
        ("{listen: public, metrics: /m}", "http://127.0.0.1:8/m"),
        ("{listen: off}", "serves no metrics (telemetry.listen: off)"),
    ):
        config.write_text(
            f"version: 1\nserver: {{listen: '127.0.0.1:8'}}\ntelemetry: {telemetry}\n"
        )
        result = top("--once", "-c", str(config))
        assert result.exit_code == 1
        assert message in result.output
