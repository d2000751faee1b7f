"""Metrics and readiness are on the telemetry listener, and on the API's only if configured."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import read
from tests.support.ports import free_port
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import (
    ALL,
    Running,
    gateway,
    modelway,
    start,
    with_telemetry,
)
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import under_load, until

PAGES = ("/metrics", "/readyz", "/healthz")


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = answer(json.dumps(COMPLETION).encode())
        yield recording


@contextmanager
def running(folder: Path, upstream: Recorder, more: str = "") -> Iterator[Running]:
    with gateway(folder, project(folder, upstream.url, {"chat": "[]"}, more=more)) as process:
        yield process


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("listener"), upstream) as process:
        yield process


def statuses(port: int, *headers: str) -> dict[str, int]:
    return {path: ask(port, request(path, headers=list(headers))).status for path in PAGES}


def test_the_public_port_has_only_the_liveness_page(front: Running) -> None:
    assert statuses(front.port) == {"/metrics": 404, "/readyz": 404, "/healthz": 200}
    assert ask(front.port, request("/healthz")).body == b"ok\n"


@pytest.mark.parametrize(
    "target", ["//metrics", "/./metrics", "/%6detrics", "/metrics?x", "/v1/..%2fmetrics"]
)
def test_no_spelling_of_the_path_opens_it_on_the_public_port(front: Running, target: str) -> None:
    assert ask(front.port, request(target)).status in (400, 404)


def test_no_header_makes_a_request_one_of_the_other_listener(front: Running) -> None:
    host = f"127.0.0.1:{front.telemetry}"
    lied = [
        f"X-Forwarded-Host: {host}",
        f"X-Forwarded-Port: {front.telemetry}",
        "Server-Port: 9464",
    ]
    assert statuses(front.port, *lied)["/metrics"] == 404
    data = f"GET http://{host}/metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert ask(front.port, data.encode()).status == 404


def test_the_other_listener_has_the_pages_and_no_api(front: Running) -> None:
    assert statuses(front.telemetry) == dict.fromkeys(PAGES, 200)
    assert b"modelway_workers" in ask(front.telemetry, request("/metrics")).body
    assert ask(front.telemetry, request("/readyz")).json()["status"] == "ready"
    refusal = ask(front.telemetry, chat())
    assert refusal.status == 404
    assert "telemetry.listen" in refusal.json()["error"]["message"]
    assert ask(front.telemetry, request("/", token=ALL)).status == 404
    assert ask(front.port, chat()).status == 200


def test_proxied_requests_may_not_read_the_metrics_there(front: Running) -> None:
    through = "X-Forwarded-For: 127.0.0.1"
    assert statuses(front.telemetry, through) == {"/metrics": 403, "/readyz": 200, "/healthz": 200}
    page = ask(front.telemetry, request("/readyz", headers=[through]))
    assert page.body == b"ready\n"


def test_only_the_allowed_addresses_may_read_it(tmp_path: Path, upstream: Recorder) -> None:
    with running(tmp_path, upstream, "telemetry: {allow_ips: [10.0.0.0/8]}") as front:
        assert statuses(front.telemetry)["/metrics"] == 403


def test_the_pages_stand_beside_the_api_where_the_config_says_so(
    tmp_path: Path, upstream: Recorder
) -> None:
    with running(tmp_path, upstream, "telemetry: {listen: public}") as front:
        assert statuses(front.port) == dict.fromkeys(PAGES, 200)
        assert ask(front.port, chat()).status == 200


def test_listen_off_leaves_only_the_liveness_page(tmp_path: Path, upstream: Recorder) -> None:
    with running(tmp_path, upstream, "telemetry: {listen: off}") as front:
        assert statuses(front.port) == {"/metrics": 404, "/readyz": 404, "/healthz": 200}
        result = modelway("top", "--once", "-c", tmp_path / "gateway.yaml")
        assert (result.returncode, "telemetry.listen: off" in result.stderr) == (1, True)


def test_a_unix_socket_serves_whoever_may_open_it(tmp_path: Path, upstream: Recorder) -> None:
    path = tmp_path / "t.sock"
    with running(tmp_path, upstream, f"telemetry: {{listen: 'unix:{path}'}}") as front:
        page = _answer_of(path, "/metrics")
        assert page.startswith(b"HTTP/1.1 200 ")
        assert b"modelway_workers" in page
        result = modelway("top", "--once", "--every", "0.2", "-c", tmp_path / "gateway.yaml")
        assert result.returncode == 0, result.stderr
        assert statuses(front.port)["/metrics"] == 404


def test_an_address_in_use_is_named_with_its_key(tmp_path: Path, upstream: Recorder) -> None:
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    with socket.create_server(("127.0.0.1", 0)) as sock:
        address = f"127.0.0.1:{sock.getsockname()[1]}"
        text = with_telemetry(text, address).replace("{listen}", f"127.0.0.1:{free_port()}")
        text += "stores: {records: 'sqlite:///records.db'}\n"
        (tmp_path / "gateway.yaml").write_text(text)
        result = modelway("serve", cwd=tmp_path)
    assert result.returncode == 1
    assert f"cannot listen on {address} (telemetry.listen): Address already in use" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "records.db").exists()  # and no database is migrated


def test_a_reload_moves_the_listener_and_keeps_the_other(
    tmp_path: Path, upstream: Recorder
) -> None:
    with running(tmp_path, upstream) as front:
        config, port = tmp_path / "gateway.yaml", free_port()
        until(lambda: read(runtime_directory(config)), "the state of the master")
        text = config.read_text()
        for listen, open_port in ((f"127.0.0.1:{port}", port), ("off", 0)):
            old = f"127.0.0.1:{front.telemetry}" if open_port else f"127.0.0.1:{port}"
            text = text.replace(f"'{old}'", f"'{listen}'")
            config.write_text(text)
            result = modelway("reload", "-c", config)
            assert result.returncode == 0, result.stderr + result.stdout
            if open_port:
                until(lambda: _status(port, "/metrics") == 200, "the new address")
            until(lambda old=old: _status(int(old.split(":")[1]), "/healthz") == 0, "the old one")
            assert ask(front.port, chat()).status == 200
        assert "Traceback" not in front.output()
        assert "in use" not in front.output()


def test_a_reload_onto_an_address_in_use_changes_nothing(
    tmp_path: Path, upstream: Recorder
) -> None:
    with running(tmp_path, upstream) as front, socket.create_server(("127.0.0.1", 0)) as sock:
        config = tmp_path / "gateway.yaml"
        until(lambda: read(runtime_directory(config)), "the state of the master")
        used_port = sock.getsockname()[1]
        config.write_text(config.read_text().replace(f":{front.telemetry}", f":{used_port}"))
        result = modelway("reload", "-c", config)
        assert result.returncode == 1
        assert f"cannot listen on 127.0.0.1:{used_port} (telemetry.listen)" in result.stderr
        assert statuses(front.telemetry)["/metrics"] == 200
        assert ask(front.port, chat()).status == 200


def test_a_reload_from_one_unix_socket_to_another_leaves_no_file_behind(
    tmp_path: Path, upstream: Recorder
) -> None:
    first, second = tmp_path / "a.sock", tmp_path / "b.sock"
    with running(tmp_path, upstream, f"telemetry: {{listen: 'unix:{first}'}}") as front:
        config = tmp_path / "gateway.yaml"
        until(lambda: read(runtime_directory(config)), "the state of the master")
        for old, new in ((first, second), (second, f"{tmp_path}/./b.sock")):
            config.write_text(config.read_text().replace(f"unix:{old}'", f"unix:{new}'"))
            result = modelway("reload", "-c", config)
            assert result.returncode == 0, result.stderr + result.stdout
            until(lambda: not first.exists(), "the end of the first")
            until(lambda: _answer_of(second, "/metrics").startswith(b"HTTP/1.1 200 "), "its pages")
        front.process.terminate()
        assert front.process.wait(under_load()) == 0
        assert list(tmp_path.glob("*.sock")) == []


def _answer_of(path: Path, page: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        sock.sendall(request(page, headers=["Connection: close"]))
        with sock.makefile("rb") as stream:
            return stream.read()


def _status(port: int, path: str) -> int:
    """0 where nobody listens."""
    try:
        return ask(port, request(path)).status
    except OSError:
        return 0


@pytest.mark.parametrize("second", [False, True])
def test_under_another_gunicorn_the_pages_are_on_a_second_bind(
    tmp_path: Path, upstream: Recorder, second: bool
) -> None:
    port, telemetry = free_port(), free_port()
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = with_telemetry(text, f"127.0.0.1:{telemetry}").replace("{listen}", "127.0.0.1:1")
    (tmp_path / "gateway.yaml").write_text(text)
    binds = ["-b", f"127.0.0.1:{port}", *(["-b", f"127.0.0.1:{telemetry}"] if second else [])]
    command = [sys.executable, "-m", "gunicorn", "-k", "gevent", *binds, "engine.wsgi:app"]
    process = start(command, port, tmp_path)
    try:
        assert statuses(port) == {"/metrics": 404, "/readyz": 404, "/healthz": 200}
        assert ask(port, chat()).status == 200
        if second:
            assert statuses(telemetry) == dict.fromkeys(PAGES, 200)
            assert ask(telemetry, chat()).status == 404
        else:
            assert _status(telemetry, "/healthz") == 0
    finally:
        process.stop()


def test_check_refuses_one_address_for_both(tmp_path: Path, upstream: Recorder) -> None:
    text = project(tmp_path, upstream.url, {"chat": "[]"}).replace("{listen}", "0.0.0.0:9464")
    (tmp_path / "gateway.yaml").write_text(text)
    result = modelway("check", cwd=tmp_path)
    assert result.returncode == 1
    assert "gateway.yaml:3:" in result.stdout
    assert "telemetry.listen (127.0.0.1:9464) is the address of server.listen" in result.stdout
