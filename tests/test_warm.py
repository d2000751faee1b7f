"""A warm start does what a cold one does: `support/warm.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.leaks import current_resources
from tests.support.ports import free_port
from tests.support.running import engine, environment, modelway
from tests.support.tutorial import Shell, shell_in
from tests.support.waiting import PATIENCE, until
from tests.support.warm import DOOR, Warm, WarmProcess, opened_door

BROKEN = "version: 1\nupstreams: {main: {url: '${ADDRESS}'}}\n"


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    process = Warm()
    yield process
    process.stop()


def start(warm: Warm, folder: Path, *arguments: str, **variables: str) -> WarmProcess:
    with (folder / "output").open("wb") as out:
        return warm.start(arguments, folder, environment(variables), out)


def test_status_and_output_are_those_of_a_cold_start(warm: Warm, tmp_path: Path) -> None:
    """In the same folder and environment."""
    (tmp_path / "gateway.yaml").write_text(BROKEN)
    for words in (["check"], ["no-such-command"]):
        cold = subprocess.run(
            engine(*words),
            cwd=tmp_path,
            env=environment({"ADDRESS": "http://x"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert start(warm, tmp_path, *words, ADDRESS="http://x").wait(PATIENCE) == cold.returncode
        assert (tmp_path / "output").read_bytes() == cold.stdout, words


def test_it_leads_a_session_and_ends_by_a_signal(warm: Warm, tmp_path: Path) -> None:
    process = start(warm, tmp_path, "mock", "--port", "0")
    try:
        until(lambda: os.getsid(process.pid) == process.pid, "a session")
        assert process.poll() is None
        assert process.pid in current_resources().processes, "a test may not leave it behind"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    finally:
        process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert process.pid not in current_resources().processes


def test_copies_of_one_process_are_as_it(tmp_path: Path) -> None:
    """They fork for one each, are told apart, and end alone."""
    with opened_door():
        copies = [Warm(), Warm()]
        processes = [start(copy, tmp_path, "mock", "--port", "0") for copy in copies]
        assert {process.pid for process in processes} <= current_resources().processes
        parents = {parent_of(process.pid) for process in processes}
        assert len(parents) == 2
        assert len({parent_of(parent) for parent in parents} - {os.getpid()}) == 1
        for copy, process in zip(copies, processes, strict=True):
            process.kill()
            assert process.wait(PATIENCE) == -signal.SIGKILL
            copy.stop()
        third = Warm()
        assert start(third, tmp_path, "no-such-command").wait(PATIENCE) == 2
        third.stop()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_gets_no_copy() -> None:
    with opened_door():
        program = f"""
import os, socket
os.setuid(65534)
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
    sock.connect("\\0{os.environ[DOOR]}")
    try:
        sock.sendall(b"x")
        print(sock.recv(100))
    except ConnectionError:
        print(b"")
"""
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    assert result.stdout == b"b''\n"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_command_has_two_outputs(tmp_path: Path) -> None:
    """Cold and warm alike."""
    (tmp_path / "gateway.yaml").write_text(BROKEN)
    for words in (["check", "--format", "json"], ["serve"]):
        cold, warm = (
            modelway(*words, cwd=tmp_path, environ={"ADDRESS": "http://x"}, warm=warm)
            for warm in (False, True)
        )
        assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout), words
        assert warm.stderr == cold.stderr, words


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with shell_in(tmp_path) as running:
        yield running


def test_a_command_of_a_shell_has_its_files_folder_and_variables(shell: Shell) -> None:
    cold = modelway("chekc", warm=False)
    assert shell.run("modelway chekc 2> errors.txt; echo $?").strip() == str(cold.returncode)
    errors = cold.stderr.replace("python -m engine", "modelway")
    assert shell.run("cat errors.txt").strip() == errors.strip()
    shell.run(f"export ADDRESS=http://x; printf '{BROKEN}' > gateway.yaml".replace("\n", "\\n"))
    cold = modelway("check", cwd=shell.folder, environ={"ADDRESS": "http://x"}, warm=False)
    assert "gateway.yaml:2" in cold.stdout
    assert shell.run("modelway check | cat").strip() == cold.stdout.strip()
    assert shell.run("echo secret | modelway token new x --help | head -1").startswith("Usage: ")


def test_a_command_of_a_shell_ends_by_its_signals(shell: Shell) -> None:
    shell.run(f"touch mock.txt; modelway mock --port {free_port()} > mock.txt 2>&1 & ")
    until(lambda: "http://" in (shell.folder / "mock.txt").read_text(), "the mock's line")
    assert shell.run("kill %1; wait %1; echo $?").strip() == "0"
