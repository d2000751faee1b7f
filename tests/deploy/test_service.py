"""The systemd units: their commands exist, and they wait longer than the gateway's grace."""

import configparser

import pytest
import yaml
from click.testing import CliRunner

from engine.cli import main
from engine.config.server import Server
from engine.values.units import seconds
from tests.support.how_to import Page
from tests.support.paths import ROOT

HOW_TO = ROOT / "docs/how-to/rolling-restart.md"
UNITS = ("modelway.service", "modelway@.service")


def unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(ROOT / "deploy" / name)
    return parser


@pytest.mark.parametrize("name", UNITS)
def test_its_commands_and_options_exist(name):
    for key in ("ExecStartPre", "ExecStart"):
        _, command, *options = unit(name)["Service"][key].split()
        result = CliRunner().invoke(main, [command, "--help"])
        assert result.exit_code == 0
        assert all(option in result.output for option in options if option.startswith("--"))


@pytest.mark.parametrize("name", UNITS)
def test_its_stop_timeout_is_longer_than_the_grace(name):
    assert float(unit(name)["Service"]["TimeoutStopSec"]) > Server().delay + Server().grace + 5
    assert unit(name)["Service"]["KillMode"] == "mixed"


def test_the_unit_for_two_gateways_waits_for_the_drain_of_its_page():
    config = Page.read(HOW_TO.read_text("utf-8")).files["gateway.yaml"]
    drain = yaml.safe_load(config)["server"]["drain"]
    timeout = float(unit("modelway@.service")["Service"]["TimeoutStopSec"])
    assert timeout > seconds(drain["delay"]) + seconds(drain["grace"]) + 5


def test_the_socket_and_the_services_that_share_it_name_each_other():
    socket = unit("modelway.socket")["Socket"]
    assert socket["ListenStream"] == Server().listen
    assert (ROOT / "deploy" / socket["Service"]).exists()
    for name in ("modelway@.service", socket["Service"]):
        assert unit(name)["Service"]["Sockets"] == "modelway.socket"
