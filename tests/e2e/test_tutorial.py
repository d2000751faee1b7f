"""The tutorial runs word for word, on free ports."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.tutorial import Shell, prints, shell_in, steps

PORTS = ("8080", "9000", "9464")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    if not shutil.which("curl") or not shutil.which("bash"):
        pytest.skip("the tutorial needs bash and curl")
    with shell_in(tmp_path) as running:
        yield running


def test_the_tutorial_runs_word_for_word(shell: Shell, tmp_path: Path) -> None:
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    for port in PORTS:
        page = page.replace(port, str(free_port()))
    for step in steps(page):
        if step.name:
            (tmp_path / "work" / step.name).write_text(step.text, "utf-8")
        else:
            output = shell.run(step.text)
            assert prints(step, output), f"{step.text}\nprints:\n{output}"
