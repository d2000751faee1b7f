"""The systemd units: their commands exist, and they wait longer than the gateway's grace."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.cli import main
from engine.config.server import Server
from engine.server.config_trial import SECONDS
from engine.server.master import BOOT_SECONDS
from tests.support import yaml_text
from tests.support.blocks import blocks
from tests.support.how_to import Page
from tests.support.paths import ROOT

TURNS = "docs/how-to/rolling-restart.md"
PAGE = "docs/how-to/systemd.md"
UNITS = ("modelway.service", "modelway@.service")


def unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(ROOT / "deploy" / name)
    return parser


@pytest.mark.parametrize("name", UNITS)
def test_its_commands_and_options_exist(name):
    for key in ("ExecStartPre", "ExecStart", "ExecReload"):
        _, command, *options = unit(name)["Service"][key].split()
        result = CliRunner().invoke(main, [command, "--help"])
        assert result.exit_code == 0
        assert all(option in result.output for option in options if option.startswith("--"))


@pytest.mark.parametrize("name", UNITS)
def test_its_stop_timeout_is_longer_than_the_grace(name):
    assert float(unit(name)["Service"]["TimeoutStopSec"]) > Server().delay + Server().grace + 5
    assert unit(name)["Service"]["KillMode"] == "mixed"


@pytest.mark.parametrize("name", UNITS)
def test_systemd_waits_until_its_workers_serve(name):
    """A trial and the boot of workers may take BOOT_SECONDS and SECONDS."""
    service = unit(name)["Service"]
    assert service["Type"] == "notify"
    assert float(service["TimeoutStartSec"]) > SECONDS + BOOT_SECONDS


def test_the_page_for_two_gateways_installs_the_units_and_their_variables():
    first, second, third = (
        b.text for b in blocks() if b.page == TURNS and b.text.startswith(("install", "systemctl"))
    )
    assert third == "systemctl disable --now modelway@green\n"
    for name in ("modelway.socket", "modelway-port.service", "modelway@.service"):
        assert f"deploy/{name} " in first
    variables = unit("modelway@.service")["Service"]["EnvironmentFile"]
    for color in ("blue", "green"):
        assert f"> {variables.replace('%i', color)}\n" in first
        assert f"modelway@{color}" in second


def test_the_page_installs_what_the_unit_names():
    (commands,) = (b.text for b in blocks() if b.page == PAGE and b.language == "sh")
    service = unit("modelway.service")["Service"]
    assert f" {service['User']}\n" in commands
    program = service["ExecStart"].split()[0]
    assert f"python3 -m venv {Path(program).parents[1]} && " in commands
    assert service["EnvironmentFile"].removeprefix("-") in commands
    assert f"install -d {service['WorkingDirectory']} && " in commands
    home = f"/var/lib/{service['StateDirectory']}"
    stores = yaml_text.load(Page.read((ROOT / PAGE).read_text("utf-8")).files["gateway.yaml"])[
        "stores"
    ]
    assert stores["journal"].startswith(f"{home}/")
    assert f"sqlite:///{home}/" in stores["records"]


def test_the_socket_and_the_services_that_share_it_name_each_other():
    socket = unit("modelway.socket")["Socket"]
    assert socket["ListenStream"] == Server().listen
    assert (ROOT / "deploy" / socket["Service"]).exists()
    for name in ("modelway@.service", socket["Service"]):
        assert unit(name)["Service"]["Sockets"] == "modelway.socket"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_units_and_the_socket(tmp_path):
    """With a program in the place of the gateway's, and an instance of the template."""
    for name in (*UNITS, "modelway.socket", "modelway-port.service"):
        text = (ROOT / "deploy" / name).read_text("utf-8")
        target = tmp_path / name.replace("@", "@blue")
        target.write_text(text.replace("/opt/modelway/bin/modelway", "/bin/true"))
    result = subprocess.run(
        ["systemd-analyze", "verify", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
