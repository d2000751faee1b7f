"""Reloads: planned and tried first, all or nothing, without lost requests."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import Phase, State, read
from engine.server.sockets.listening_sockets import why_unavailable
from engine.telemetry.metrics.storage.folder import folder_of
from tests.support.crowd import traffic
from tests.support.each import each
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Recorder, answer, ask, recorder, request
from tests.support.running import (
    Running,
    engine,
    environment,
    gateway,
    modelway,
    with_telemetry,
)
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import some
from tests.support.waiting import PATIENCE, until

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
PACE, EVENTS = 0.1, 30


def speak(received: ReceivedRequest, sock: socket.socket) -> None:
    """Answer with a completion, or with a stream of three seconds."""
    if b'"stream": true' not in received.body:
        answer(json.dumps(COMPLETION).encode())(received, sock)
        return
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    for _ in range(EVENTS):
        sock.sendall(EVENT)
        time.sleep(PACE)
    sock.sendall(b"data: [DONE]\n\n")
    sock.shutdown(socket.SHUT_RDWR)


@dataclass
class Deployment:
    running: Running
    config: Path

    def status(self, model: str) -> int:
        return ask(self.running.port, chat("chat", model)).status

    def edit(self, old: str, new: str) -> None:
        text = self.config.read_text()
        assert old in text
        draft = self.config.with_suffix(".new")
        draft.write_text(text.replace(old, new))
        draft.replace(self.config)

    def state(self) -> State:
        published = read(runtime_directory(self.config))
        assert published is not None
        return published

    def serves(self) -> bool:
        """Whether the master has published that its workers serve."""
        state = read(runtime_directory(self.config))
        return state is not None and {w.phase for w in state.workers} == {Phase.SERVES}

    def hup(self, patience: float = 20.0) -> None:
        """Send SIGHUP, and wait for the result of the reload."""
        before = self.state().tried
        self.running.process.send_signal(signal.SIGHUP)
        until(lambda: self.state().tried > before, "an answer to SIGHUP", patience)


@pytest.fixture
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = speak
        yield recording


@pytest.fixture
def deployment(tmp_path: Path, upstream: Recorder) -> Iterator[Deployment]:
    config = project(tmp_path, upstream.url, {"chat": "[]"})
    with gateway(tmp_path, config) as running:
        new_deployment = Deployment(running, tmp_path / "gateway.yaml")
        until(new_deployment.serves, "the master's word that all workers serve")
        yield new_deployment


NEW = ("  one: {to", "  new: {to: [{upstream: main}]}\n  one: {to")
BAD = ("upstream: main}", "upstream: mian}")


def test_a_good_config_takes_over(deployment: Deployment) -> None:
    assert deployment.status("new") == 404
    before = deployment.state()
    deployment.edit(*NEW)
    result = modelway("reload", "-c", deployment.config)
    assert result.returncode == 0, result.stderr
    after = deployment.state()
    assert after.hash != before.hash
    assert f"config {after.hash} is now in use" in result.stdout
    phases = [(worker.config, worker.phase) for worker in after.workers]
    assert phases[-3:] == [(after.hash, Phase.SERVES)] * 3  # two workers and a heavy one
    assert set(phases[:-3]) <= {(before.hash, Phase.ENDS)}
    ending = {worker.pid for worker in after.workers if worker.phase is Phase.ENDS}
    for worker in set(deployment.running.workers()) - ending:
        assert f"  worker {worker}  config {after.hash}  serves since " in result.stdout
    until(lambda: deployment.status("new") == 200, "the new config")
    assert f"config {after.hash} is now served" in deployment.running.output()


def test_a_bad_config_changes_nothing_and_is_reported(deployment: Deployment) -> None:
    before, workers = deployment.state(), set(deployment.running.workers())
    deployment.edit(*BAD)
    result = modelway("reload", "-c", deployment.config)
    assert result.returncode == 1
    place = r"gateway\.yaml:\d+:\d+: error: "
    assert re.search(f"{place}.*unknown upstream 'mian'", result.stderr), result.stderr
    assert deployment.state() == before  # the new upstream was not asked
    deployment.hup()
    state = deployment.state()
    assert (state.hash, state.loaded) == (before.hash, before.loaded)
    assert "gateway.yaml" in state.error
    assert "unknown upstream 'mian'" in state.error
    assert "the last good one is still served" in deployment.running.output()
    details = ask(deployment.running.telemetry, request("/readyz")).json()["config"]
    assert details["hash"] == before.hash
    assert "unknown upstream 'mian'" in details["last_reload_error"]
    counted = ask(deployment.running.telemetry, request("/metrics")).body.decode()
    assert "modelway_config_reload_success 0" in counted
    assert set(deployment.running.workers()) == workers
    assert deployment.status("one") == 200


def test_a_worker_that_dies_after_a_bad_edit_starts_on_the_last_good_plan(
    deployment: Deployment,
) -> None:
    deployment.edit(*BAD)
    deployment.hup()
    victims = set(deployment.running.workers())
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    until(
        lambda: (
            len(deployment.running.workers()) == 2
            and not victims & set(deployment.running.workers())
        ),
        "other workers",
    )
    assert deployment.status("one") == 200


def test_after_a_bad_config_a_good_one_is_taken(deployment: Deployment) -> None:
    deployment.edit(*BAD)
    deployment.hup()
    deployment.edit(BAD[1], BAD[0])
    deployment.edit(*NEW)
    deployment.hup()
    assert deployment.state().error == ""
    until(lambda: deployment.status("new") == 200, "the new config")


def test_an_address_that_is_taken_is_a_bad_config(deployment: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        deployment.edit(f":{deployment.running.port}", f":{sock.getsockname()[1]}")
        deployment.hup()
        assert "cannot listen on" in deployment.state().error
    assert deployment.status("one") == 200


def metrics_of(deployment: Deployment) -> Path:
    """The folder without which no worker of this master can start."""
    pid = deployment.running.process.pid
    (folder,) = folder_of(pid).parent.glob(f"modelway-metrics-*-{pid}-*")
    until(lambda: len(list(folder.glob("*.lock"))) == 2, "both workers")
    return folder


def hidden(folder: Path) -> Path:
    """Rename a folder, and put a file in its place, so that it cannot be made again."""
    away = folder.rename(folder.with_name(f"hidden-{folder.name}"))
    folder.touch()
    return away


def put_back(away: Path, folder: Path) -> None:
    """Undo `hidden`."""
    folder.unlink()
    away.rename(folder)


def test_a_config_that_cannot_be_started_changes_nothing(deployment: Deployment) -> None:
    """`check` accepts the config: the error is on the disk."""
    (deployment.config.parent / "taken").write_text("")
    workers, before = set(deployment.running.workers()), deployment.state()
    deployment.edit(
        "\nroutes:", '\nstores: {records: "sqlite:///u.db", journal: taken/in}\nroutes:'
    )
    assert modelway("check", "-c", deployment.config).returncode == 0
    result = modelway("reload", "-c", deployment.config)
    assert result.returncode == 1
    assert "journal cannot be kept" in result.stderr
    assert "Traceback" not in result.stderr + deployment.running.output()
    assert deployment.state().hash == before.hash
    assert set(deployment.running.workers()) == workers
    assert deployment.status("one") == 200


def test_workers_that_do_not_boot_give_way_to_those_before(deployment: Deployment) -> None:
    """The trial succeeds, and the workers fail to boot."""
    workers, before = set(deployment.running.workers()), deployment.state()
    metrics = metrics_of(deployment)
    away = hidden(metrics)
    deployment.edit(*NEW)
    with traffic(deployment.running.port, chat("chat"), pause=0.1) as callers:
        result = modelway("reload", "-c", deployment.config)
    assert result.returncode == 1
    assert "File exists" in result.stderr
    assert (deployment.state().hash, deployment.state().loaded) == (before.hash, before.loaded)
    assert set(deployment.running.workers()) == workers
    assert (callers.lost, set(callers.ids)) == (0, {200})
    put_back(away, metrics)
    deployment.hup()
    until(lambda: deployment.status("new") == 200, "the new config")


def records_at(silent: socket.socket) -> str:
    """The setting for a database that never answers."""
    port = silent.getsockname()[1]
    return f'stores: {{records: "postgresql+psycopg://u@127.0.0.1:{port}/x?connect_timeout=60"}}'


@pytest.mark.parametrize("sig", some([signal.SIGTERM, signal.SIGINT], 1))
def test_a_gateway_stops_at_once_in_the_middle_of_a_trial(deployment: Deployment, sig: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        deployment.edit("\nroutes:", f"\n{records_at(silent)}\nroutes:")
        deployment.running.process.send_signal(signal.SIGHUP)
        silent.settimeout(PATIENCE)
        with silent.accept()[0]:  # from the trial, which waits for an answer now
            deployment.running.process.send_signal(sig)
            assert deployment.running.process.wait(20.0) == 0
    assert "the config was not reloaded" in deployment.running.output()
    with pytest.raises(ProcessLookupError):
        os.killpg(deployment.running.process.pid, 0)


@pytest.mark.parametrize(
    ("command", "sig"),
    some(
        [
            (["serve"], signal.SIGTERM),
            (["check", "--boot"], signal.SIGTERM),
            (["serve"], signal.SIGQUIT),
            (["serve"], signal.SIGHUP),
        ],
        2,
    ),
)
def test_a_command_that_is_ended_in_its_trial_leaves_nothing(
    tmp_path: Path, upstream: Recorder, command: list[str], sig: signal.Signals
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        (tmp_path / "output").open("w+") as output,
    ):
        text = project(tmp_path, upstream.url, {"chat": "[]"}, more=records_at(silent))
        text = with_telemetry(text, f"127.0.0.1:{free_port()}")
        (tmp_path / "gateway.yaml").write_text(text.replace("{listen}", f"127.0.0.1:{free_port()}"))
        process = subprocess.Popen(
            engine(*command),
            cwd=tmp_path,
            env=environment(),
            stderr=output,
            stdout=output,
            start_new_session=True,
            # Where tests run in the background, it is ignored, and a child inherits that.
            preexec_fn=lambda: signal.signal(sig, signal.SIG_DFL),
        )

        def trial_of() -> socket.socket | None:
            assert process.poll() is None, (tmp_path / "output").read_text()
            with suppress(BlockingIOError):
                return silent.accept()[0]
            return None

        try:
            silent.settimeout(0.0)
            with until(trial_of, "the trial"):  # which waits for an answer now
                process.send_signal(sig)
                assert process.wait(20.0) == 128 + sig
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_folders_in_memory_that_were_removed_are_made_again(deployment: Deployment) -> None:
    """As systemd does when the user has logged out."""
    metrics, run = metrics_of(deployment), runtime_directory(deployment.config)
    shutil.rmtree(metrics)
    shutil.rmtree(run)
    until(lambda: read(run) is not None, "the published state")
    deployment.edit(*NEW)
    assert modelway("reload", "-c", deployment.config).returncode == 0
    assert deployment.status("new") == 200
    assert "Traceback" not in deployment.running.output()


def test_a_worker_that_cannot_boot_does_not_end_the_gateway(deployment: Deployment) -> None:
    metrics = metrics_of(deployment)
    away = hidden(metrics)
    first, second = deployment.running.workers()
    os.kill(first, signal.SIGKILL)
    until(
        lambda: "a worker failed; the next worker starts in" in deployment.running.output(),
        "a worker that fails",
    )
    assert deployment.status("one") == 200
    os.kill(second, signal.SIGKILL)
    put_back(away, metrics)
    until(lambda: len(deployment.running.workers()) == 2, "other workers")
    assert deployment.status("one") == 200


def test_another_address_is_taken_and_the_old_one_left(deployment: Deployment) -> None:
    port = free_port()
    deployment.edit(f":{deployment.running.port}", f":{port}")
    deployment.hup()
    assert ask(port, chat("chat", "one")).status == 200
    until(
        lambda: why_unavailable({"server.listen": f"127.0.0.1:{deployment.running.port}"}) is None,
        "a free address",
    )


@each(
    "policy",
    [
        "{rate_limit: {requests: 600, per: 60}}",
        "{rate_limit: {requests: .inf, per: 1m}}",
        "{spend_limit: {amount: .nan, per: 1d}}",
        "{concurrency: {requests: 99999999999999999999}}",
        "{max_body: 5}",
        "{allow_ips: [10.0.0.1/8]}",
        "{allow_models: a}",
        "{rate_limit: [1]}",
        "rate_limit",
    ],
)
def test_a_bad_policy_has_a_place_and_leaves_the_gateway_as_it_is(
    deployment: Deployment, policy: str
) -> None:
    good, bad = "policies: []", f"policies: [{policy}]"
    deployment.edit(good, bad)
    try:
        deployment.hup()
        assert re.search(r"gateway\.yaml:\d+:\d+: error: ", deployment.state().error)
        assert deployment.status("one") == 200
        assert "Traceback" not in deployment.running.output()
    finally:
        deployment.edit(bad, good)


def test_reload_without_a_running_gateway_fails(tmp_path: Path, upstream: Recorder) -> None:
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    (tmp_path / "gateway.yaml").write_text(text.replace("{listen}", "127.0.0.1:1"))
    result = modelway("reload", "-c", tmp_path / "gateway.yaml")
    assert result.returncode == 1
    assert "no running gateway of this user serves" in result.stderr


@pytest.mark.parametrize("linked", [False, True], ids=["edited", "swapped link"])
def test_a_watched_config_is_taken_when_it_changes(
    tmp_path: Path, upstream: Recorder, linked: bool
) -> None:
    """`linked`: a link to a folder is replaced, as Kubernetes does."""
    first, second = tmp_path / "..1", tmp_path / "..2"
    first.mkdir()
    text = project(first, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", "workers: 2, watch: true")
    if not linked:
        with gateway(first, text) as running:
            new_deployment = Deployment(running, first / "gateway.yaml")
            new_deployment.edit(*NEW)
            until(lambda: new_deployment.status("new") == 200, "the new config")
        return
    (tmp_path / "data").symlink_to("..1")
    (tmp_path / "gateway.yaml").symlink_to("data/gateway.yaml")
    (tmp_path / "small.json").symlink_to("data/small.json")
    with gateway(tmp_path, text) as running:  # writes through the link
        second.mkdir()
        (second / "small.json").write_bytes((first / "small.json").read_bytes())
        (second / "gateway.yaml").write_text((first / "gateway.yaml").read_text().replace(*NEW))
        (tmp_path / "data.new").symlink_to("..2")
        (tmp_path / "data.new").replace(tmp_path / "data")
        new_deployment = Deployment(running, tmp_path / "gateway.yaml")
        until(lambda: new_deployment.status("new") == 200, "the new config")


def test_reloads_under_load_lose_no_request_and_cut_no_stream(deployment: Deployment) -> None:
    """Good and bad configs in turn; `benchmarks/reload.py` does a hundred."""
    ends: list[bytes] = []

    def listen() -> None:
        ends.append(ask(deployment.running.port, chat("chat", stream=True)).body[-14:])

    streams = [threading.Thread(target=listen) for _ in range(6)]
    for stream in streams:
        stream.start()
    with traffic(deployment.running.port, chat("chat")) as callers:
        for turn in range(4):
            old, new = BAD if turn % 2 == 0 else BAD[::-1]
            deployment.edit(old, new)
            deployment.hup()
            answers = callers.count(200)
            until(lambda: callers.count(200) > answers + 10, "more answers")  # noqa: B023
    for stream in streams:
        stream.join(30)
    assert ends == [b"data: [DONE]\n\n"] * 6
    assert set(callers.ids) == {200}
    assert callers.lost == 0


def test_every_new_connection_is_answered_while_workers_change(deployment: Deployment) -> None:
    for turn in range(3):
        old = set(deployment.running.workers())
        deployment.edit("version: 1", f"# {turn}\nversion: 1")
        deployment.running.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while old & set(deployment.running.workers()):
            assert deployment.status("one") == 200
            assert time.monotonic() < end
