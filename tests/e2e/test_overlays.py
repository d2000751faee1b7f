"""A base and an overlay: served in each way, reloaded, and read by the commands."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import State, read
from tests.support.ports import free_port
from tests.support.recording import answer, ask, recorder
from tests.support.running import Running, engine, modelway, start
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import some
from tests.support.waiting import until

FILES = {"MODELWAY_CONFIG": "gateway.yaml:prod.yaml"}
OPTIONS = ("-c", "gateway.yaml", "-c", "prod.yaml")
OVERLAY = """\
server: {{listen: "127.0.0.1:{port}"}}
telemetry: {{listen: "127.0.0.1:{telemetry}"}}
models:
  two: !remove
  extra: {{to: [{{upstream: main}}]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a base, whose address is nobody's."""
    with recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        config = project(tmp_path, upstream.url, {"chat": "[]"})
        (tmp_path / "gateway.yaml").write_text(config.replace("{listen}", "127.0.0.1:1"))
        yield tmp_path


def overlay(folder: Path) -> int:
    """Write the overlay; its port."""
    port = free_port()
    (folder / "prod.yaml").write_text(OVERLAY.format(port=port, telemetry=free_port()))
    return port


def edit(folder: Path, old: str, new: str) -> None:
    """Change the overlay."""
    text = (folder / "prod.yaml").read_text()
    assert old in text
    draft = folder / "prod.new"
    draft.write_text(text.replace(old, new))
    draft.replace(folder / "prod.yaml")


def statuses(running: Running, *models: str) -> list[int]:
    return [ask(running.port, chat("chat", model)).status for model in models]


@pytest.fixture(params=some(["options", "variable"], 1))
def served(request: pytest.FixtureRequest, folder: Path) -> Iterator[Running]:
    """`modelway serve`, with its files named in both ways."""
    named = request.param == "variable"
    command = engine("serve", *(() if named else OPTIONS))
    running = start(command, overlay(folder), folder, FILES if named else {}, warm=True)
    try:
        until(lambda: read(runtime(folder)), "the master's word")
        yield running
    finally:
        running.stop()


def runtime(folder: Path) -> Path:
    return runtime_directory(folder / "gateway.yaml", [folder / "prod.yaml"])


def state(folder: Path) -> State:
    published = read(runtime(folder))
    assert published is not None
    return published


def test_an_overlay_is_served_and_a_change_of_it_is_taken(served: Running, folder: Path) -> None:
    assert statuses(served, "one", "two", "extra") == [200, 404, 200]
    edit(folder, "extra", "changed")
    result = modelway("reload", *OPTIONS, cwd=folder)
    assert result.returncode == 0, result.stderr
    until(lambda: statuses(served, "extra", "changed", "one") == [404, 200, 200], "the change")


def test_an_error_in_an_overlay_has_its_place_and_changes_nothing(
    served: Running, folder: Path
) -> None:
    before = state(folder)
    edit(folder, "upstream: main", "upstream: mian")
    result = modelway("reload", *OPTIONS, cwd=folder)
    assert result.returncode == 1
    place = r"prod\.yaml:5:\d+: error: .*unknown upstream 'mian'"
    assert re.search(place, result.stderr), result.stderr
    os.kill(served.process.pid, signal.SIGHUP)
    until(lambda: state(folder).tried > before.tried, "an answer to SIGHUP")
    after = state(folder)
    assert re.search(place, after.error), after.error
    assert after.hash == before.hash
    assert statuses(served, "extra", "two") == [200, 404]


def own_gunicorn(port: int) -> list[str]:
    address = f"127.0.0.1:{port}"
    return [sys.executable, "-m", "gunicorn", "-k", "gevent", "-b", address, "engine.wsgi:app"]


def test_gunicorn_of_ones_own_serves_an_overlay_and_takes_its_change(folder: Path) -> None:
    port = overlay(folder)
    running = start(own_gunicorn(port), port, folder, FILES)
    try:
        assert statuses(running, "one", "two", "extra") == [200, 404, 200]
        edit(folder, "extra", "changed")
        os.kill(running.process.pid, signal.SIGHUP)
        until(lambda: statuses(running, "extra", "changed") == [404, 200], "the change")
    finally:
        running.stop()


def test_gunicorn_of_ones_own_serves_nothing_with_an_error_in_an_overlay(folder: Path) -> None:
    port = overlay(folder)
    edit(folder, "upstream: main", "upstream: mian")
    with pytest.raises(AssertionError, match=r"prod\.yaml:5:\d+: error: .*unknown upstream 'mian'"):
        start(own_gunicorn(port), port, folder, FILES)


TEST = """\
tests:
  - name: a model of the overlay
    request:
      {method: POST, path: /v1/chat/chat/completions, token: everything, body: {model: extra}}
    expect: {status: 200, upstream: main}
"""
EXPLAIN = ("explain", "POST", "/v1/chat/chat/completions", "--token", "everything", "-d")


@pytest.mark.parametrize("named", [False, True], ids=["options", "variable"])
def test_commands_read_an_overlay(named: bool, folder: Path) -> None:
    overlay(folder)
    (folder / "prod.test.yaml").write_text(TEST)

    def run(*arguments: str) -> tuple[int, str]:
        options, environ = ((), FILES) if named else (OPTIONS, {})
        result = modelway(*arguments, *options, cwd=folder, environ=environ)
        return result.returncode, result.stdout

    status, routes = run("routes")
    assert (status, "extra" in routes, "two" in routes) == (0, True, False)
    assert run(*EXPLAIN, '{"model": "extra"}')[0] == 0
    assert run(*EXPLAIN, '{"model": "two"}')[0] == 1
    status, tests = run("test")
    assert (status, "1 passed" in tests) == (0, True), tests
