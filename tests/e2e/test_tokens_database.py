"""Tokens in a database: created and revoked at runtime, malformed tokens, and leaks of secrets."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engine.cli import main
from engine.values.caller import digest, new_secret
from tests.support.crowd import traffic
from tests.support.ports import free_port
from tests.support.postgres import Postgres
from tests.support.postgres import running as postgres_running
from tests.support.recording import (
    Recorder,
    answer,
    ask,
    assert_refused,
    recorder,
    request,
)
from tests.support.running import ALL, Running, gateway, modelway
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import scale, some
from tests.support.waiting import until

TTL = 1.0
ROUTES = {"chat": "[]", "other": "[]"}
TEAMS = "teams: {club: {rate: 4/1h}, squad: {in: club, models: [one]}, crew: {in: club}}\n"
BODY = b'{"model": "one"}'


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = answer(json.dumps(COMPLETION).encode())
        yield recording


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("tokens")
    more = f'stores: {{records: "sqlite:///records.db", token_ttl: {TTL:g}s}}\n'
    config = project(folder, upstream.url, ROUTES, more=more + TEAMS)
    with gateway(folder, config) as running:
        yield running


def cli(folder: Path, *words: str) -> Result:
    """Run a command that succeeds, in this process: a new process takes most of a second."""
    result = CliRunner().invoke(main, ["token", *words, "--config", str(folder / "gateway.yaml")])
    assert result.exit_code == 0, result.output
    return result


def create(front: Running, name: str, *options: str) -> str:
    return cli(front.log.parent, "create", "--name", name, *options).stdout.strip()


def status(front: Running, secret: str, name: str = "chat", **more: str) -> int:
    return ask(front.port, chat(name, token=secret, **more)).status


def test_a_token_works_as_soon_as_it_is_made_and_not_longer_than_it_should(
    front: Running,
) -> None:
    secret = create(front, "short-lived")
    assert status(front, secret) == 200
    cli(front.log.parent, "revoke", "short-lived")
    revoked = time.monotonic()
    until(lambda: time.monotonic() > revoked + TTL + 0.1, "the time it is remembered")
    for _ in range(12):  # by any worker
        assert_refused(ask(front.port, chat(token=secret)), 401, "invalid_api_key")


def test_a_token_tried_before_it_was_made_works_within_the_time_it_is_remembered(
    front: Running,
) -> None:
    secret = new_secret()
    assert [status(front, secret) for _ in range(8)] == [401] * 8
    record = {"name": "early", "sha256": digest(secret)}
    file = front.log.parent / "early.jsonl"
    file.write_text(json.dumps(record))
    cli(front.log.parent, "import", str(file))
    created_at = time.monotonic()
    until(lambda: time.monotonic() > created_at + TTL + 0.1, "the time it is remembered as unknown")
    assert [status(front, secret) for _ in range(12)] == [200] * 12


def test_a_rotated_secret_is_good_for_its_grace_only(front: Running) -> None:
    old = create(front, "turning")
    new = cli(front.log.parent, "rotate", "turning", "--grace", "1h").stdout.strip()
    assert [status(front, new), status(front, old)] == [200, 200]
    newer = cli(front.log.parent, "rotate", "turning", "--grace", "1s").stdout.strip()
    rotated = time.monotonic()
    until(lambda: time.monotonic() > rotated + 1 + TTL + 0.1, "the end of the grace")
    assert [status(front, new) for _ in range(12)] == [401] * 12
    assert status(front, newer) == 200
    newest = cli(front.log.parent, "rotate", "turning", "--grace", "0s").stdout.strip()
    assert status(front, newest) == 200
    until(lambda: status(front, newer) == 401, "no grace at all")


def test_a_token_ends_when_it_expires(front: Running) -> None:
    start = time.monotonic()
    secret = create(front, "mayfly", "--expires", "2s")
    assert status(front, secret) == 200 or time.monotonic() > start + 2
    until(lambda: status(front, secret) == 401, "its end")


def test_tokens_of_the_database_have_the_rights_and_share_the_limits_of_their_teams(
    front: Running,
) -> None:
    player, sailor = (create(front, f"of-{t}", "--team", t) for t in ("squad", "crew"))
    refused = ask(front.port, chat(token=player, model="two"))
    assert_refused(refused, 403, "model_not_allowed")
    assert [status(front, secret) for secret in (player, sailor) * 2] == [200] * 4
    for secret in (player, sailor):
        message = ask(front.port, chat(token=secret)).json()["error"]["message"]
        assert message == "Limit reached: 4 requests per 1 hour for team 'club'."


def test_a_token_is_limited_to_its_models_operations_and_addresses(front: Running) -> None:
    options = ("--models", "o*", "--operations", "small.chat")
    narrow = create(front, "narrow", *options)
    assert status(front, narrow) == 200
    refusals = [
        (ask(front.port, chat(token=narrow, model="two")), "model_not_allowed"),
        (ask(front.port, chat("other", token=narrow)), "operation_not_allowed"),
        (
            ask(front.port, chat(token=create(front, "far", "--ips", "192.0.2.0/24"))),
            "address_not_allowed",
        ),
    ]
    for response, code in refusals:
        assert_refused(response, 403, code)
    assert status(front, create(front, "near", "--ips", "127.0.0.0/8,::1")) == 200


BAD = {
    "empty": b"Bearer ",
    "no scheme": b"mw-abc",
    "basic": b"Basic bXc6bXc=",
    "unknown": b"Bearer mw-" + b"0" * 64,
    "short": b"Bearer x",
    "latin-1": b"Bearer mw-\xe9\xff\x80",
    "utf-8": "Bearer mw-éè😀".encode(),
    "two words": b"Bearer mw-a mw-b",
    "4 KB": b"Bearer " + b"x" * 4096,
    "16 KB": b"Bearer " + b"x" * 16_000,
    "quotes": b"Bearer ' OR 1=1 --",
    "percent": b"Bearer %00%s{}",
}


@pytest.mark.parametrize("header", BAD.values(), ids=BAD)
def test_a_malformed_token_is_401(front: Running, header: bytes) -> None:
    data = request("/v1/chat/chat/completions", BODY, headers=[b"Authorization: " + header])
    assert_refused(ask(front.port, data), 401, "invalid_api_key")


@pytest.mark.parametrize(
    "header", [b"Bearer " + b"x" * 1_000_000, b"Bearer mw-\x00", b"Bearer a\x01b"]
)
def test_a_malformed_authorization_header_is_400_or_431(front: Running, header: bytes) -> None:
    data = request("/v1/chat/chat/completions", BODY, headers=[b"Authorization: " + header])
    assert_refused(ask(front.port, data), (400, 431))
    assert status(front, ALL) == 200


@contextmanager
def strangers(port: int, connections: int) -> Iterator[Counter[int]]:
    """Clients that send unknown tokens without pauses; the statuses of their responses."""
    statuses: Counter[int] = Counter()
    ending = threading.Event()

    def guess() -> None:
        with socket.create_connection(("127.0.0.1", port), 20) as sock:
            while not ending.is_set():
                sock.sendall(chat(token=new_secret()))
                statuses[status_of(sock)] += 1

    with ThreadPoolExecutor(connections) as threads:
        guessing = [threads.submit(guess) for _ in range(connections)]
        try:
            yield statuses
        finally:
            ending.set()
    for each in guessing:
        each.result()


def status_of(sock: socket.socket) -> int:
    """Read one response; its status."""
    response = HTTPResponse(sock)
    response.begin()
    response.read()
    return response.status


@pytest.mark.parametrize("kind", some(["sqlite", "postgresql"], 1))
def test_strangers_do_not_lock_out_callers_that_a_worker_sees_for_the_first_time(
    tmp_path: Path, upstream: Recorder, postgres: Postgres, kind: str
) -> None:
    """Also right after a start, when no token is cached."""
    url = postgres.fresh() if kind == "postgresql" else "sqlite:///records.db"
    config = project(tmp_path, upstream.url, ROUTES, more=f'stores: {{records: "{url}"}}\n')
    (tmp_path / "gateway.yaml").write_text(config.replace("{listen}", "127.0.0.1:1"))
    cli(tmp_path, "create", "--name", "first")  # makes the tables
    callers = scale(30, 100)
    secrets = [new_secret() for _ in range(callers)]
    rows = [{"name": f"caller {n}", "sha256": digest(s)} for n, s in enumerate(secrets)]
    (tmp_path / "tokens.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cli(tmp_path, "import", str(tmp_path / "tokens.jsonl"))
    with gateway(tmp_path, config) as front, strangers(front.port, 12) as guessed:
        statuses = Counter(status(front, secret) for secret in secrets)
        until(lambda: guessed[429] > 100, "strangers who try too much are told so")
    assert statuses == {200: callers}
    assert set(guessed) == {401, 429}


def test_no_secret_is_left_anywhere(front: Running) -> None:
    """Checked: output, database, journal, and the command lines of processes."""
    secret = create(front, "hushed")
    rotated = cli(front.log.parent, "rotate", "hushed").stdout.strip()
    for each in (secret, rotated, secret + "x"):
        status(front, each)
        status(front, each, model="gone")
        ask(front.port, request(f"/v1/{each}/nowhere?key={each}", token=each))
        ask(front.port, request(f"/v1/chat/chat/completions?key={each}", b"{", token=each))
    for words in (("list",), ("show", "hushed"), ("export",)):
        output = cli(front.log.parent, *words)
        assert secret not in output.stdout + output.stderr
    (recorder_process,) = front.recorders()
    os.kill(recorder_process, signal.SIGSTOP)  # or it would ship the journal, and remove its files
    for each in (secret, rotated):
        ask(front.port, request(f"/v1/chat/chat/completions?key={each}", b"{", token=each))
    files = [path for path in front.log.parent.rglob("*") if path.is_file()]
    contents = {path: path.read_bytes() for path in files}
    os.kill(recorder_process, signal.SIGCONT)
    assert any(path.name == "records.db" for path in files)
    assert any("journal" in path.parts for path in files)
    assert front.log in files
    commands = [
        path for pid in (front.process.pid, *front.workers(), *front.recorders())
        for path in (Path(f"/proc/{pid}/cmdline"), Path(f"/proc/{pid}/environ"))
    ]  # fmt: skip
    contents |= {path: path.read_bytes() for path in commands}
    for path, data in contents.items():
        for each in (secret, rotated, ALL):
            assert each.removeprefix("mw-").encode() not in data, path


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path, upstream: Recorder) -> None:
    url = f"sqlite:///{tmp_path}/records.db"
    config = project(tmp_path, upstream.url, ROUTES, more=f'stores: {{records: "{url}"}}\n')
    (tmp_path / "gateway.yaml").write_text(config.replace("{listen}", f"127.0.0.1:{free_port()}"))
    cli(tmp_path, "create", "--name", "one")
    with sqlite3.connect(tmp_path / "records.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    process = modelway("serve", cwd=tmp_path)
    config = ("--config", str(tmp_path / "gateway.yaml"))
    commands = [
        CliRunner().invoke(main, [*words, *config]) for words in (("token", "list"), ("usage",))
    ]
    codes = [process.returncode, *(each.exit_code for each in commands)]
    assert all(codes), codes
    for output in (process.stdout + process.stderr, *(each.output for each in commands)):
        assert "made by a newer Modelway" in output, output
        assert "run that version, or put back the copy" in output
        assert "Traceback" not in output


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    """A PostgreSQL that only this test uses, and may stop."""
    with postgres_running() as server:
        yield server


def test_tokens_seen_before_work_while_postgresql_is_away(
    tmp_path: Path, upstream: Recorder, database: Postgres
) -> None:
    more = f'stores: {{records: "{database.url}", token_ttl: 100ms}}\n'
    with gateway(tmp_path, project(tmp_path, upstream.url, ROUTES, more=more)) as front:
        used_token, unused_token = create(front, "seen"), create(front, "other")
        assert [status(front, used_token) for _ in range(8)] == [200] * 8
        with traffic(front.port, chat(token=used_token), 2) as load:
            until(lambda: load.count(200) > 100, "answers")
            database.kill()
            before = load.count(200)
            until(lambda: load.count(200) > before + 300, "answers")
            assert_refused(ask(front.port, chat(token=unused_token)), 503, "store_unavailable")
            assert status(front, ALL) == 200
            database.start()
            until(lambda: status(front, unused_token) == 200, "a look-up")
        assert set(load.ids) == {200}, {k: len(v) for k, v in load.ids.items()}
        assert not load.broken
        assert front.output().count("tokens cannot be looked up") <= 2, "once for each worker"
        cli(tmp_path, "revoke", "seen")
        until(lambda: status(front, used_token) == 401, "the revocation")
