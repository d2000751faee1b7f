"""The config that commands read: its option and its environment variable, and its errors."""

import io
import os
import subprocess
import sys

import pytest

from engine.cli import config_file
from engine.source.problem import Level, Problem
from tests.support.commands import GOOD, modelway


def test_the_config_comes_from_the_option_or_the_environment(folder):
    os.rename(folder / "gateway.yaml", folder / "other.yaml")
    assert modelway("check").exit_code == 1
    assert modelway("check", "-c", "other.yaml").exit_code == 0
    assert modelway("check", env={"MODELWAY_CONFIG": "other.yaml"}).exit_code == 0


@pytest.mark.parametrize("name", ["serve", "routes", "mock"])
def test_with_errors_nothing_is_served(folder, name):
    (folder / "gateway.yaml").write_text(GOOD.replace("upstream: main", "upstream: mian"))
    result = modelway(name, "-c", "gateway.yaml")
    assert result.exit_code == 1
    assert "unknown upstream 'mian'" in result.output


@pytest.fixture
def overlay(folder):
    (folder / "prod.yaml").write_text("upstreams: {spare: {url: 'http://127.0.0.1:8'}}\n")
    (folder / "bad-overlay.yaml").write_text("upstreams: {main: !remove }\n")
    return folder


def test_overlays_come_from_the_option_or_the_environment(overlay):
    for result in (
        modelway("check", "-c", "gateway.yaml", "-c", "bad-overlay.yaml"),
        modelway("check", env={"MODELWAY_CONFIG": "gateway.yaml:bad-overlay.yaml"}),
    ):
        assert result.exit_code == 1
        assert "unknown upstream 'main'" in result.output
        assert "gateway.yaml + bad-overlay.yaml: 1 error" in result.output


def test_a_config_with_overlays_is_checked_beside_others(overlay):
    result = modelway("check", "-c", "gateway.yaml", "-c", "bad-overlay.yaml", "gateway.yaml")
    assert "gateway.yaml: no problems" in result.output.splitlines()
    assert "gateway.yaml + bad-overlay.yaml: 1 error" in result.output


@pytest.mark.parametrize(
    "command", [["routes"], ["explain", "GET", "/v1/items"], ["test"], ["serve"], ["reload"]]
)
def test_commands_read_overlays(overlay, command):
    name, *words = command
    result = modelway(name, "-c", "gateway.yaml", "-c", "bad-overlay.yaml", *words)
    assert result.exit_code == 1
    assert "unknown upstream 'main'" in result.output


def test_the_mock_reads_overlays(overlay):
    result = modelway("mock", "-c", "gateway.yaml", "-c", "bad-overlay.yaml")
    assert result.exit_code == 1
    assert "unknown upstream 'main'" in result.output


def test_diff_compares_overlays(overlay):
    (overlay / "other.yaml").write_text("upstreams: {main: {url: 'http://127.0.0.1:7'}}\n")
    result = modelway("diff", "gateway.yaml:prod.yaml", "gateway.yaml:prod.yaml:other.yaml")
    assert "http://127.0.0.1:7" in result.output
    same = modelway("diff", "gateway.yaml", "gateway.yaml").output
    assert modelway("diff", ".:prod.yaml", "gateway.yaml:prod.yaml").output == same
    base = (overlay / "gateway.yaml").read_text()
    assert modelway("diff", "-", "gateway.yaml:other.yaml", input=base).output == same


def test_a_database_is_that_of_the_overlay(overlay):
    (overlay / "prod.yaml").write_text("stores: {records: 'sqlite:///prod.db'}\n")
    result = modelway("token", "create", "--name", "alice", "-c", "gateway.yaml", "-c", "prod.yaml")
    assert result.exit_code == 0, result.output
    assert (overlay / "prod.db").exists()


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_a_terminal_has_colours_unless_they_are_switched_off(
    monkeypatch, terminal, environ, coloured
):
    output = io.StringIO()
    monkeypatch.setattr(output, "isatty", lambda: terminal, raising=False)
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert config_file.has_colour(output) is coloured


@pytest.mark.parametrize("coloured", [True, False])
def test_a_problem_has_colours_on_a_terminal(capfd, monkeypatch, coloured):
    monkeypatch.setattr(config_file, "has_colour", lambda stream: coloured)
    problem = Problem("a.yaml", 1, 1, Level.ERROR, "MW101", "unknown key 'x'", "remove it")
    config_file.print_problems([problem], {"a.yaml": "x: 1"})
    first, line, mark, hint = capfd.readouterr().err.splitlines()
    plain = "a.yaml:1:1: error: unknown key 'x' [MW101]"
    assert first == (f"\x1b[31m\x1b[1m{plain}\x1b[0m" if coloured else plain)
    assert line == ("\x1b[2m  1 | x: 1\x1b[0m" if coloured else "  1 | x: 1")
    assert (mark.count("^"), "remove it" in hint) == (1, True)


def test_a_gateway_does_not_import_what_only_tables_need():
    """It would have 2 MB more."""
    program = "import sys, engine.cli.serve; assert 'rich' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
