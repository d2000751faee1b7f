"""A gateway on a read-only root file system, as most clusters run it.

Each is started in a mount namespace of its own, which takes a privilege: without it, these skip.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.recording import ask, recorder
from tests.support.running import PATIENCE, environment, start, with_telemetry
from tests.support.small import chat, project

READ_ONLY = (
    "for d in /tmp /var/tmp {folder}; do mount --bind $d $d && mount -o remount,ro,bind $d; done"
)
NO_MEMORY = "mount -t tmpfs -o ro tmpfs /dev/shm"


def isolated(folder: Path, *mounts: str) -> list[str]:
    """The command that runs some mounts, and then serves the config in a folder."""
    serve = shlex.join([sys.executable, "-m", "engine", "serve", "-c", "gateway.yaml"])
    steps = " && ".join([READ_ONLY.format(folder=folder), *mounts, f"cd {folder}"])
    return ["unshare", "--mount", "bash", "-c", f"{steps} && exec {serve}"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose file systems can be made read-only for a process."""
    try:
        trial = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here")
    if trial.returncode:
        pytest.skip("this user may make no mount namespace")
    return tmp_path


def write(folder: Path, url: str, port: int, more: str = "") -> None:
    limits = {"chat": "[{rate_limit: {requests: 5, per: 1m}}]"}
    config = with_telemetry(project(folder, url, limits, more=more), f"127.0.0.1:{free_port()}")
    (folder / "gateway.yaml").write_text(config.replace("{listen}", f"127.0.0.1:{port}"))


def failed_start(folder: Path, *mounts: str) -> str:
    """The output of a gateway that cannot start."""
    result = subprocess.run(
        isolated(folder, *mounts),
        env=environment({"TMPDIR": ""}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode not in (0, -9)
    assert "Traceback" not in result.stderr
    return result.stderr


def test_a_tmpfs_in_memory_is_all_that_serving_needs(folder: Path) -> None:
    log = folder / "log"
    log.mkdir()
    with recorder() as upstream:
        port = free_port()
        write(folder, upstream.url, port)
        running = start(isolated(folder), port, log, {"TMPDIR": ""})
        try:
            large = chat(messages=[{"role": "user", "content": "x" * 5_000_000}])
            assert [ask(port, chat()).status, ask(port, large).status] == [200, 200]
            assert len(upstream.last.body) > 5_000_000
            assert "Traceback" not in running.output()
        finally:
            running.stop()


def test_without_any_writable_folder_one_sentence_says_what_is_needed(folder: Path) -> None:
    write(folder, "http://127.0.0.1:9", free_port())
    output = failed_start(folder, NO_MEMORY)
    assert "no folder can be written for the gateway's runtime files: mount a tmpfs" in output
    assert output.count("\n") == 1


def test_a_journal_that_cannot_be_written_is_said_before_anything_is_served(folder: Path) -> None:
    records = 'stores: {records: "sqlite:////dev/shm/modelway-test-read-only.db"}'
    write(folder, "http://127.0.0.1:9", free_port(), records)
    try:
        output = failed_start(folder)
    finally:
        for path in Path("/dev/shm").glob("modelway-test-read-only.db*"):
            path.unlink()
    assert "the ledger's journal cannot be kept in" in output
    assert "stores.journal" in output
