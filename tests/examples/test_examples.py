"""The projects of examples/: the commands of each README, typed in order in one shell on free
ports, print what it shows. They check, test and serve the project."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support import yaml_text
from tests.support.chart import HELM
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.tutorial import Step, prints, shell_in, steps

FOLDER = ROOT / "examples"
PROJECTS = sorted(file.parent.name for file in FOLDER.glob("*/gateway.yaml"))
PORTS = ("8080", "9000", "9001", "9464")
PROGRAMS = {"curl": shutil.which("curl"), "bash": shutil.which("bash"), "helm": HELM}
REQUIRED = ("modelway check --quiet --strict", "modelway test", "modelway serve", "modelway mock")


def commands(name: str) -> list[Step]:
    """What the README of a project types."""
    return steps((FOLDER / name / "README.md").read_text("utf-8"))


@pytest.mark.parametrize("name", PROJECTS)
def test_the_commands_of_an_example_print_what_it_shows(name: str, tmp_path: Path) -> None:
    for program, path in PROGRAMS.items():
        if path is None and any(re.search(rf"\b{program} ", s.text) for s in commands(name)):
            pytest.skip(f"needs {program}")
    with shell_in(tmp_path) as shell:
        root = tmp_path / "work"
        shutil.copytree(FOLDER / name, root / "examples" / name)
        (root / "openapi").symlink_to(ROOT / "openapi")
        # One example serves a config of this folder, which keeps a journal beside it.
        shutil.copytree(ROOT / "deploy", root / "deploy", ignore=shutil.ignore_patterns("var"))
        ports = {port: str(free_port()) for port in PORTS}

        def on_free_ports(text: str) -> str:
            return re.sub("|".join(PORTS), lambda match: ports[match[0]], text)

        config = root / "examples" / name / "gateway.yaml"
        config.write_text(on_free_ports(config.read_text("utf-8")), "utf-8")
        shell.run(f"cd examples/{name}")
        for step in commands(name):
            output = shell.run(on_free_ports(step.text))
            log = root / "examples" / name / "gateway.txt"
            served = log.read_text("utf-8") if log.exists() else ""
            assert prints(step, output), f"{step.text}\nprints:\n{output}\n{served}"


@pytest.mark.parametrize("name", PROJECTS)
def test_an_example_is_checked_tested_and_served(name: str) -> None:
    typed = [step.text for step in commands(name)]
    assert [r for r in REQUIRED if not any(text.startswith(r) for text in typed)] == []


def test_the_list_has_every_example() -> None:
    listed = re.findall(
        r"^\| \[([\w-]+)\]", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == PROJECTS
    assert len(PROJECTS) == 7


def test_no_two_projects_share_a_digest() -> None:
    """Nobody knows the secret of one: it was made of random bytes and thrown away."""
    configs = [yaml_text.load((FOLDER / p / "gateway.yaml").read_text("utf-8")) for p in PROJECTS]
    digests = [token["sha256"] for config in configs for token in config["tokens"]]
    assert len(set(digests)) == len(digests) == len(PROJECTS)
