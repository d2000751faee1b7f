"""The empty machine finds on the pages what it runs, and has a stand-in for each image."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support import yaml_text
from tests.support.blocks import scripts
from tests.support.how_to import Page
from tests.support.paths import ROOT
from trials.empty_machine import docker, units
from trials.empty_machine.__main__ import (
    commands_of_readme,
    main,
    packages_of_readme,
    summary,
)


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_commands_of_the_readme_are_found() -> None:
    environment, demo, gate = commands_of_readme()
    assert environment.startswith("python3 -m venv ")
    assert demo == "pip install . && modelway demo"
    assert gate == "pip install tox && tox"
    assert packages_of_readme() == ["python3-venv"]  # and no compiler


def test_the_commands_of_the_pages_about_systemd_are_found() -> None:
    (install,) = scripts(units.SINGLE)
    assert "systemctl enable --now modelway\n" in install
    commands = units.commands_of_table()
    assert commands[0] == "systemctl reload modelway"
    assert any(" token create " in command for command in commands)
    prepare, turn, withdraw = units.scripts_of_turns()
    assert prepare.endswith("modelway@blue\n")
    assert turn.startswith("systemctl enable --now modelway@green && ")
    assert withdraw == "systemctl disable --now modelway@green\n"


def test_two_gateways_have_two_ports_for_metrics() -> None:
    """In the config that a reader of the page about one gateway has, with what the other adds."""
    single = Page.read(units.SINGLE.read_text("utf-8")).files["gateway.yaml"]
    config = yaml_text.load(single.replace("version: 1\n", units.sections_of_turns()))
    prepare, *_ = units.scripts_of_turns()
    ports = re.findall(r"echo METRICS_PORT=(\d+) > /etc/modelway/(\w+).env", prepare)
    assert ports == [("9464", "blue"), ("9465", "green")]
    assert config["telemetry"]["listen"] == "127.0.0.1:${METRICS_PORT:-9464}"
    assert {"drain", "listen"} == config["server"].keys()


def test_a_machine_that_cannot_be_made_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    for part in ("readme", "docker"):
        result = CliRunner().invoke(main, [part])
        assert isinstance(result.exception, FileNotFoundError)
        assert list(tmp_path.iterdir()) == []


def test_the_commands_of_the_page_about_containers_are_found() -> None:
    up, create = docker.commands()
    assert up.endswith(f"{docker.COMPOSE} up --build")
    assert create.startswith(f"{docker.COMPOSE} exec gateway modelway token create ")


def test_every_image_of_compose_has_a_stand_in() -> None:
    """But for what is started on demand, as Grafana: Debian has no package of it."""
    compose = yaml_text.load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    services = {n: each for n, each in compose["services"].items() if "profiles" not in each}
    assert set(services) == set(docker.SERVICES)
    images = {name: service["image"] for name, service in services.items() if name != "gateway"}
    full = {name: f"docker.io/{tag}" for name, tag in docker.STAND_INS.items()}
    full["database"] = full["database"].replace("docker.io/", "docker.io/library/")
    assert images == full


def test_tests_that_are_skipped_for_one_reason_are_one_line() -> None:
    output = (
        "SKIPPED [2] tests/a.py:1: needs curl\nSKIPPED [1] tests/b.py:9: needs curl\n"
        "SKIPPED [1] tests/b.py:10: needs git\n==== 5 passed, 4 skipped in 1.00s ====\n"
    )
    assert summary(output).splitlines() == [
        "    3 skipped: needs curl",
        "    1 skipped: needs git",
        "==== 5 passed, 4 skipped in 1.00s ====",
    ]
