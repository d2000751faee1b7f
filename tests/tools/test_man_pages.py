"""The manual pages are those of this version, every command has one, and the wheel has them all."""

import shutil
import subprocess
import tomllib

import pytest

from engine import cli
from tests.support.each import each
from tests.support.paths import ROOT
from tools.man_pages import man_pages
from tools.reference import MAN

PAGES = man_pages()


def test_the_pages_are_what_their_generator_writes():
    files = {file.name: file.read_text("utf-8") for file in MAN.iterdir()}
    assert files == PAGES, "write them: python -m tools.reference"


def test_every_command_has_a_page_that_the_first_one_names():
    assert PAGES.keys() == {"modelway.1", *(f"modelway-{name}.1" for name in cli.main.files)}
    for name in cli.main.files:
        assert f"\\fBmodelway\\-{name}\\fR(1)\n" in PAGES["modelway.1"]


def test_a_page_has_the_options_and_the_commands_of_a_group():
    page = PAGES["modelway-token.1"]
    assert "modelway\\-token \\- create, list, change and revoke tokens for callers" in page
    assert ".SS modelway token rotate\n" in page
    assert "\\fB\\-\\-grace TEXT\\fR\n" in page


@each("name", sorted(PAGES))
def test_roff_reads_a_page_without_a_warning(name):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-ww", "-Tutf8", str(MAN / name)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_the_wheel_and_the_source_distribution_have_the_pages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["data-files"] == {"share/man/man1": ["man/*.1"]}
    assert "graft man\n" in (ROOT / "MANIFEST.in").read_text("utf-8")
