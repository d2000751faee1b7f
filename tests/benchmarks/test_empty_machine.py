"""The empty machine finds on the pages what it runs, and has a stand-in for each image."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.empty_machine import docker, units
from benchmarks.empty_machine.__main__ import commands_of_readme, packages_of_readme, summary
from tests.support.paths import ROOT


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_commands_of_the_readme_are_found() -> None:
    environment, demo, gate = commands_of_readme()
    assert environment.startswith("python3 -m venv ")
    assert demo == "pip install . && modelway demo"
    assert gate == "pip install tox && tox"
    assert "python3-venv" in packages_of_readme()


def test_the_commands_of_the_pages_about_systemd_are_found() -> None:
    (install,) = units.blocks(units.SINGLE)
    assert "systemctl enable --now modelway\n" in install
    commands = units.commands_of_table()
    assert commands[0] == "systemctl reload modelway"
    assert any(" token create " in command for command in commands)
    prepare, turn = (b for b in units.blocks(units.TURNS) if "systemctl" in b)
    assert prepare.endswith("modelway@blue\n")
    assert turn.startswith("systemctl enable --now modelway@green && ")


def test_the_commands_of_the_page_about_containers_are_found() -> None:
    up, create = docker.commands()
    assert up.endswith(f"{docker.COMPOSE} up --build")
    assert create.startswith(f"{docker.COMPOSE} exec gateway modelway token create ")


def test_every_image_of_compose_has_a_stand_in() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]
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
