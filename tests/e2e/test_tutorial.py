"""The tutorial runs word for word, on free ports."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.tutorial import Shell, prints, steps

PORTS = ("8080", "9000", "9090")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    if not shutil.which("curl") or not shutil.which("bash"):
        pytest.skip("the tutorial needs bash and curl")
    program = tmp_path / "bin" / "modelway"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/modelway.py" "$@"\n')
    program.chmod(0o755)
    names = ("LANG", "TMPDIR", "HOME", "PYTHONPATH", "XDG_RUNTIME_DIR")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    path = f"{program.parent}:{os.environ['PATH']}"
    (tmp_path / "day").mkdir()
    running = Shell(tmp_path / "day", environment | {"PATH": path})
    yield running
    running.close()


def test_the_tutorial_runs_word_for_word(shell: Shell, tmp_path: Path) -> None:
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    for port in PORTS:
        page = page.replace(port, str(free_port()))
    for step in steps(page):
        if step.name:
            (tmp_path / "day" / step.name).write_text(step.text, "utf-8")
        else:
            output = shell.run(step.text)
            assert prints(step, output), f"{step.text}\nprints:\n{output}"
