"""The systemd unit: what it starts is there, and it waits longer than the gateway's own grace."""

import configparser

from click.testing import CliRunner

from engine.cli import main
from engine.config.server import Server
from tests.support.paths import ROOT

FILE = ROOT / "deploy" / "modelway.service"


def unit():
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str
    read.read(FILE)
    return read


def test_the_commands_and_their_options_are_there():
    for key in ("ExecStartPre", "ExecStart"):
        _, command, *options = unit()["Service"][key].split()
        shown = CliRunner().invoke(main, [command, "--help"])
        assert shown.exit_code == 0
        assert all(option in shown.output for option in options if option.startswith("--"))


def test_it_waits_for_requests_to_end():
    assert float(unit()["Service"]["TimeoutStopSec"]) > Server().grace + 5
    assert unit()["Service"]["KillMode"] == "mixed"
