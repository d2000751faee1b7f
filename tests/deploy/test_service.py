"""The systemd unit: its commands exist, and it waits longer than the gateway's grace."""

import configparser

from click.testing import CliRunner

from engine.cli import main
from engine.config.server import Server
from tests.support.paths import ROOT

FILE = ROOT / "deploy" / "modelway.service"


def unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(FILE)
    return parser


def test_its_commands_and_options_exist():
    for key in ("ExecStartPre", "ExecStart"):
        _, command, *options = unit()["Service"][key].split()
        result = CliRunner().invoke(main, [command, "--help"])
        assert result.exit_code == 0
        assert all(option in result.output for option in options if option.startswith("--"))


def test_its_stop_timeout_is_longer_than_the_grace():
    assert float(unit()["Service"]["TimeoutStopSec"]) > Server().grace + 5
    assert unit()["Service"]["KillMode"] == "mixed"
