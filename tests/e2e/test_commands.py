"""The commands as processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from openai import OpenAI

from tests.support.blocks import block
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Wire, ask, recorder, request
from tests.support.running import (
    ALL,
    PATIENCE,
    Platform,
    Running,
    engine,
    environment,
    gateway,
    listens,
    mock,
    modelway,
    pointed_at,
    replaced,
    shipped,
    start,
)
from tests.support.thorough import some
from tests.support.waiting import until

CHAT = "/v1/chat/completions"
FINE = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}'
KEYS = {f"{name}_API_KEY": "k" for name in ("OPENAI", "ANTHROPIC", "GEMINI", "RERANK")}
KEYS["CLIENT_SECRET_KEY"] = "0123456789abcdef0123456789abcdef"
ALONE = ("--no-second-opinion",)
"""The documents without their examples, which take most of the time of a check."""
COMMANDS = ["check", "demo", "init", "mock", "routes", "serve", "token"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A starter project, to be read and not changed."""
    folder = tmp_path_factory.mktemp("commands") / "project"
    assert modelway("init", folder).returncode == 0
    return folder


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """A starter project to change."""
    text = (project / "gateway.yaml").read_text()
    (tmp_path / "gateway.yaml").write_text(text)
    (tmp_path / "openapi").symlink_to(project / "openapi")
    return tmp_path


def changed(folder: Path, old: str, new: str) -> int:
    """Change gateway.yaml; the line of the change."""
    file = folder / "gateway.yaml"
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def knock(port: int) -> None:
    """Connect and close, as a load balancer's TCP health check does."""
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()


# Help and usage


def test_help_lists_every_command() -> None:
    output = modelway("--help").stdout
    assert [name for name in COMMANDS if f"\n  {name} " not in output] == []


def test_version() -> None:
    result = modelway("--version")
    assert (result.returncode, result.stdout.split()[0]) == (0, "modelway,")


def test_wrong_usage_is_2() -> None:
    result = modelway("chekc")
    assert result.returncode == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.stderr


# check, routes, init


def test_starter_project_is_clean(project: Path) -> None:
    result = modelway("check", cwd=project, environ=KEYS)
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, "gateway.yaml: no problems")


def test_init_overwrites_nothing(copy: Path) -> None:
    (copy / "gateway.yaml").write_text("mine")
    result = modelway("init", copy)
    assert result.returncode == 1
    assert "already exists" in result.stderr
    assert (copy / "gateway.yaml").read_text() == "mine"


def test_check_shows_every_problem_with_its_place(copy: Path) -> None:
    first = changed(copy, "- openai.createEmbedding\n", "- openai.createEmbeding\n")
    second = changed(copy, "to: [{upstream: rerank}]", "to: [{upstream: rerunk}]")
    third = changed(copy, "workers: 2", "worker: 2")
    result = modelway("check", cwd=copy)
    assert result.returncode == 1
    for line, words in ((first, "createEmbedding"), (second, "'rerank'"), (third, "'workers'")):
        place = rf"^gateway\.yaml:{line}:\d+: "
        assert re.search(place, result.stdout, re.MULTILINE), result.stdout
        assert words in result.stdout
    assert "^" in result.stdout
    assert re.search(r"\b\d errors", result.stdout)
    assert "Traceback" not in result.stderr


def test_check_notes_what_is_not_served_and_says_0(copy: Path) -> None:
    changed(copy, "      - openai.createSpeech\n", "")
    result = modelway("check", *ALONE, cwd=copy)
    assert result.returncode == 0
    assert re.search("no route serves 1 of .*: openai.createSpeech", result.stdout)
    assert "no route serves" not in modelway("check", "-q", *ALONE, cwd=copy).stdout


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("missing.yaml", None),
        ("empty.yaml", b""),
        ("binary.yaml", b"\xff\xfe\x00\x01"),
        ("broken.yaml", b"version: 1\n  specs: [\n"),
        ("list.yaml", b"- 1\n"),
    ],
)
def test_check_of_what_is_no_config_is_1(copy: Path, file: str, text: bytes | None) -> None:
    if text is not None:
        (copy / file).write_bytes(text)
    result = modelway("check", "-c", file, cwd=copy)
    assert result.returncode == 1
    assert f"{file}:" in result.stdout
    assert "Traceback" not in result.stderr


def test_config_may_be_named_by_the_environment(copy: Path) -> None:
    (copy / "gateway.yaml").rename(copy / "other.yaml")
    result = modelway("check", *ALONE, cwd=copy, environ=KEYS | {"MODELWAY_CONFIG": "other.yaml"})
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, "other.yaml: no problems")


def test_secrets_are_never_shown(copy: Path) -> None:
    changed(copy, "credential: {header: x-api-key,", "credential: {header: x-api-key, nothing: 1,")
    secret = "sk-very-secret"
    result = modelway("check", cwd=copy, environ={"ANTHROPIC_API_KEY": secret})
    assert result.returncode == 1
    assert secret not in result.stdout + result.stderr


def test_routes_shows_where_everything_goes(project: Path) -> None:
    result = modelway("routes", cwd=project, environ={"COLUMNS": "220"})
    assert result.returncode == 0
    rows = [row.split() for row in result.stdout.splitlines()]
    assert rows[0][:3] == ["METHOD", "PATH", "OPERATION"]
    assert any(row[:3] == ["POST", CHAT, "openai.createChatCompletion"] for row in rows)
    for mount in ("/v1beta", "/v1", "/v1alpha"):
        assert f"{mount}/models/{{model}}:generateContent" in result.stdout
    assert "body#/model" in result.stdout


def test_routes_of_a_narrow_terminal_keep_method_and_path(project: Path) -> None:
    result = modelway("routes", cwd=project, environ={"COLUMNS": "80"})
    assert f"POST    {CHAT}" in result.stdout


# token, serve


def test_new_token_works_when_its_entry_is_pasted(tmp_path: Path) -> None:
    result = modelway(
        "token", "new", 'alice: "x"', "--models", "gpt-4o*", "--expires", "2099-01-31"
    )
    assert result.returncode == 0
    secret = re.search(r"^  (mw-[0-9a-f]{64})$", result.stdout, re.MULTILINE)
    entry = re.search(r"^  - \{.*\}$", result.stdout, re.MULTILINE)
    assert secret is not None
    assert entry is not None
    assert secret[1] not in entry[0]
    config = shipped(tmp_path / "project").partition("\ntokens:")[0] + f"\ntokens:\n{entry[0]}\n"
    with (
        recorder() as upstream,
        gateway(tmp_path / "project", config, pointed_at(upstream.url)) as running,
    ):
        assert ask(running.port, request(CHAT, FINE, token=secret[1])).status == 200
        other_body = FINE.replace(b"gpt-4o", b"whisper-1")
        assert ask(running.port, request(CHAT, other_body, token=secret[1])).status == 403
        assert ask(running.port, request(CHAT, FINE, token=ALL)).status == 401
        assert secret[1] not in running.output()


def test_token_with_an_impossible_day_is_refused(copy: Path) -> None:
    result = modelway("token", "new", "bob", "--expires", "soon")
    if result.returncode:
        assert result.returncode == 2
        return
    entry = next(line for line in result.stdout.splitlines() if line.startswith("  - {"))
    changed(copy, "tokens:", f"tokens:\n{entry}\n#")
    assert modelway("check", cwd=copy).returncode == 1


def test_broken_config_is_not_served(copy: Path) -> None:
    port = free_port()
    changed(copy, "127.0.0.1:8080", f"127.0.0.1:{port}")
    line = changed(copy, "workers: 2", "workerz: 2")
    result = modelway("serve", cwd=copy)
    assert result.returncode == 1
    assert f"gateway.yaml:{line}:" in result.stdout + result.stderr
    assert "did you mean" in (result.stdout + result.stderr).lower()
    assert "nothing is served" in result.stderr
    assert not listens(port)


def test_broken_document_is_not_served(copy: Path, project: Path) -> None:
    changed(copy, "# include: [objects.yaml]", "include: [objects.yaml]")
    shutil.copy(project / "objects.yaml", copy)
    (copy / "openapi").unlink()
    (copy / "openapi").mkdir()
    lines = []
    configs = [(copy / name).read_text() for name in ("gateway.yaml", "objects.yaml")]
    for document in (project / "openapi").glob("*.yaml"):
        if not any(f"openapi/{document.name}" in config for config in configs):
            shutil.copy(document, copy / "openapi")
            continue
        head, mark, rest = document.read_text().partition("\npaths:\n")
        assert mark
        (copy / "openapi" / document.name).write_text(f"{head}\npaths: 7\nx-paths:\n{rest}")
        lines.append((document.name, head.count("\n") + 2))
    for command, output in ((["serve"], "stderr"), (["check", "--all"], "stdout")):
        result = modelway(*command, cwd=copy)
        text = getattr(result, output)
        assert result.returncode == 1
        assert "Traceback" not in text
        for name, line in lines:
            problem = rf"openapi/{name}:{line}:\d+: error: 'paths' must be object"
            assert re.search(problem, text), text


def test_a_broken_keyword_is_left_out_with_a_warning(copy: Path, project: Path) -> None:
    text = (project / "openapi" / "anthropic.yaml").read_text()
    (copy / "openapi").unlink()
    shutil.copytree(project / "openapi", copy / "openapi")
    broken = text.replace("type: integer", "type: integr", 1)
    (copy / "openapi" / "anthropic.yaml").write_text(broken)
    line = broken.partition("integr")[0].count("\n") + 1
    checked = modelway("check", *ALONE, cwd=copy)
    message = "warning: 'type' is left out: 'integr' is not a type of JSON Schema"
    assert re.search(rf"openapi/anthropic.yaml:{line}:\d+: {message}", checked.stdout)
    assert checked.returncode == 0


def unwritable(folder: Path) -> None:
    """Give the config a journal that cannot be created: an error that only a start shows."""
    config = folder / "gateway.yaml"
    more = 'stores: {records: "sqlite:///usage.db", journal: gateway.yaml/in}\n'
    config.write_text(config.read_text() + more)


def test_check_starts_the_config_on_trial_when_asked_to(copy: Path) -> None:
    assert modelway("check", "--boot", "-q", *ALONE, cwd=copy).returncode == 0
    unwritable(copy)
    assert modelway("check", "-q", *ALONE, cwd=copy).returncode == 0
    result = modelway("check", "--boot", "-q", *ALONE, cwd=copy)
    assert result.returncode == 1
    assert "gateway.yaml: error: the ledger's journal cannot be kept" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


def test_a_config_that_cannot_be_started_is_told_in_a_sentence(copy: Path) -> None:
    unwritable(copy)
    result = modelway("serve", cwd=copy)
    assert result.returncode == 1
    assert result.stderr.startswith("Error: the ledger's journal cannot be kept in ")
    assert "Traceback" not in result.stdout + result.stderr


def test_a_database_that_never_answers_is_a_warning_and_holds_nothing_up(copy: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+psycopg://127.0.0.1:{silent.getsockname()[1]}/none"
        config = copy / "gateway.yaml"
        config.write_text(config.read_text() + f'stores: {{records: "{url}"}}\n')
        result = modelway("check", "--boot", "-q", *ALONE, cwd=copy)
    assert result.returncode == 0, result.stdout
    assert re.search(r"gateway.yaml: warning: unavailable: records: .*MW322", result.stdout)


def test_port_in_use_is_an_error(copy: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        changed(copy, "127.0.0.1:8080", f"127.0.0.1:{port}")
        result = modelway("serve", cwd=copy)
    assert result.returncode != 0
    assert str(port) in result.stderr
    assert "in use" in result.stderr


# demo


@contextmanager
def demo(folder: Path) -> Iterator[tuple[Running, str, str]]:
    """A running demo, its base URL and its token."""
    port = free_port()
    running = start(engine("demo", "--port", str(port)), port, folder)
    try:
        until(lambda: "Ctrl-C" in running.output(), "what the demo says")
        base = re.search(r"base URL  (http://\S+)", running.output())
        token = re.search(r"token     (mw-\S+)", running.output())
        assert base is not None
        assert token is not None
        yield running, base[1], token[1]
    finally:
        for pid in descendants(running.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        running.stop()


def descendants(pid: int) -> list[int]:
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in below] + [d for c in below for d in descendants(int(c))]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


AGENTS_DEFAULTS = ("gpt-5.5", "gpt-6-sol", "gpt-5.1-codex-max", "codex-mini-latest", "o4-mini")
"""The default models of coding agents that speak the OpenAI dialect."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str, str]]:
    """A demo, and what it says that callers need."""
    with demo(tmp_path_factory.mktemp("demo")) as running:
        yield running


def test_demo_answers_as_it_says(shown: tuple[Running, str, str]) -> None:
    _, base, token = shown
    turns = [{"role": "user", "content": "Hello there!"}]
    with OpenAI(base_url=base, api_key=token, max_retries=0) as client:
        answer = client.chat.completions.create(model="gpt-4o", messages=turns)
        assert answer.choices[0].message.content == "Hello there!"
        stream = client.chat.completions.create(model="gpt-4o", messages=turns, stream=True)
        assert "".join(c.choices[0].delta.content or "" for c in stream) == "Hello there!"
        assert "gpt-4o" in [model.id for model in client.models.list()]
        for model in AGENTS_DEFAULTS:
            answer = client.chat.completions.create(model=model, messages=turns)
            assert answer.model == model


def test_demo_needs_no_second_port(shown: tuple[Running, str, str]) -> None:
    """What a gateway shows at the address of its telemetry is at none."""
    pages = {"/metrics": 404, "/readyz": 404, "/healthz": 200}
    assert {page: ask(shown[0].port, request(page)).status for page in pages} == pages


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_snippets_of_the_demo_work_when_pasted(shown: tuple[Running, str, str]) -> None:
    running, base, token = shown
    output = running.output()
    curl = output[output.index("  curl -N") : output.index("Python, with")]
    result = subprocess.run(
        ["bash", "-c", curl],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
    )
    assert "data: [DONE]" in result.stdout, result.stderr
    python = output[output.index("  from openai") : output.index("Model names")]
    script = "\n".join(line[2:] for line in python.splitlines())
    assert printed_by(script) == "Hello!\n"
    readme = block("README.md", "from openai").text
    readme = readme.replace("http://127.0.0.1:PORT/v1", base).replace("mw-...", token)
    assert printed_by(readme) == "Hello\n"


def printed_by(script: str) -> str:
    """What a program in Python prints."""
    command = [sys.executable, "-c", script]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=environment(), check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_demo_leaves_nothing_behind_while_a_request_hangs(tmp_path: Path) -> None:
    with demo(tmp_path) as (running, base, token):
        port = int(base.rpartition(":")[2].partition("/")[0])
        body = FINE.replace(b"gpt-4o", b"fault-stall-after-2").replace(b"{", b'{"stream":true,', 1)
        with Wire(port) as wire:
            wire.send(request(CHAT, body, token=token))
            wire.head()
            next(wire.pieces())
        everyone = descendants(running.process.pid)
        assert len(everyone) >= 3  # our worker, the mock, its worker
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(20) == 0, running.output()
        until(lambda: not any(alive(pid) for pid in everyone), "the end of all processes")
        assert "Traceback" not in running.output()


# Under gunicorn, and its end


def alone(folder: Path) -> str:
    """The shipped config with one worker: once it answers, all workers have started."""
    return replaced(shipped(folder / "project"), "workers: 2", "workers: 1")


def own_gunicorn(port: int, *options: str) -> list[str]:
    """The command of a gunicorn that the operator starts."""
    command = ("-m", "gunicorn", "-k", "gevent", "-b", f"127.0.0.1:{port}")
    return [sys.executable, *command, *options, "engine.wsgi:app"]


def failed_start(
    command: list[str], folder: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The result of a serving command that must fail."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment({"MODELWAY_CONFIG": "gateway.yaml", **(environ or {})}),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
    )


def test_own_gunicorn_serves_the_config_named_by_the_environment(
    platform: Platform, tmp_path: Path
) -> None:
    """With the command line that a refused one proposes."""
    port = free_port()
    words = ["-b", f"127.0.0.1:{port}", "--threads", "4", "engine.wsgi:app", "-k", "gevent"]
    command = [sys.executable, "-m", "gunicorn", *words]
    config = {"MODELWAY_CONFIG": str(platform.folder / "gateway.yaml")}
    running = start(command, port, tmp_path, {**pointed_at(platform.mock.url), **config})
    try:
        with OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0) as client:
            turns = [{"role": "user", "content": "a b c"}]
            stream = client.chat.completions.create(model="gpt-4o", messages=turns, stream=True)
            assert "".join(c.choices[0].delta.content or "" for c in stream) == "a b c"
    finally:
        running.stop()


def test_own_gunicorn_does_not_start_with_a_broken_config(copy: Path) -> None:
    line = changed(copy, "workers: 2", "workerz: 2")
    port = free_port()
    result = failed_start(own_gunicorn(port), copy)
    assert result.returncode != 0
    assert f"gateway.yaml:{line}:" in result.stderr
    assert not listens(port)


def test_own_gunicorn_refuses_preload(copy: Path) -> None:
    port = free_port()
    result = failed_start(own_gunicorn(port, "--preload"), copy)
    assert result.returncode == 4
    assert "leave out gunicorn's --preload" in result.stderr
    assert "Traceback" not in result.stderr
    assert not listens(port)


@pytest.mark.parametrize(
    ("options", "environ"),
    some(
        [
            ([], {}),
            (["--worker-class=tests.support.own_worker.Unpatched"], {"PYTHONPATH": str(ROOT)}),
            ([], {"GUNICORN_CMD_ARGS": "--threads 4"}),
            (["-c", "workers.py"], {}),
            (["-k", "sync"], {}),
            (["-k", "gthread"], {}),
            (["--threads", "4"], {}),
            (["-k", "asgi"], {}),
        ],
        2,
    ),
)
def test_own_gunicorn_refuses_a_worker_without_gevent(
    copy: Path, options: list[str], environ: dict[str, str]
) -> None:
    (copy / "workers.py").write_text("worker_class = 'gthread'\n")
    port = free_port()
    words = ["-b", f"127.0.0.1:{port}", *options, "engine.wsgi:app"]
    result = failed_start([sys.executable, "-m", "gunicorn", *words], copy, environ)
    assert result.returncode == 4
    assert "does not run on gevent" in result.stderr
    assert f"\n  gunicorn {shlex.join(words)} -k gevent\n" in result.stderr
    assert "Traceback" not in result.stderr
    assert not listens(port)


def test_a_stream_under_way_is_finished_before_the_end(tmp_path: Path) -> None:
    go_on = threading.Event()

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        sock.sendall(head + b'data: {"n":1}\n\n')
        go_on.wait(PATIENCE)
        sock.sendall(b'data: {"n":2}\n\ndata: [DONE]\n\n')
        sock.shutdown(socket.SHUT_RDWR)

    with (
        recorder() as upstream,
        gateway(tmp_path / "project", alone(tmp_path), pointed_at(upstream.url)) as running,
        Wire(running.port) as wire,
    ):
        upstream.speak = speak
        body = FINE.replace(b"{", b'{"stream":true,', 1)
        wire.send(request(CHAT, body, token=ALL, headers=["Connection: close"]))
        wire.head()
        pieces = wire.pieces()
        assert next(pieces) == b'data: {"n":1}\n\n'
        running.process.send_signal(signal.SIGTERM)
        until(lambda: not listens(running.port), "a closed port")
        go_on.set()
        assert b"".join(pieces) == b'data: {"n":2}\n\ndata: [DONE]\n\n'
        assert running.process.wait(10) == 0


def test_connections_of_port_scanners_do_not_delay_the_end(tmp_path: Path) -> None:
    config = replaced(alone(tmp_path), r"\n  workers: 1.*\n", "\n  workers: 1\n  grace: 10m\n")
    with gateway(tmp_path / "project", config) as running:

        def has_ended() -> bool:
            knock(running.port)
            return running.process.poll() is not None

        running.process.send_signal(signal.SIGTERM)
        until(has_ended, "the end, long before that of the grace")
        assert not listens(running.port)
        assert running.process.returncode == 0


def test_idle_gateway_ends_at_once(tmp_path: Path) -> None:
    with gateway(tmp_path / "project", alone(tmp_path)) as running:
        with Wire(running.port) as wire:  # kept alive, nothing under way
            wire.send(request("/v1/models", token=ALL))
            assert wire.answer().status == 200
            workers = running.workers()
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(15) == 0  # half of the grace
        assert not any(alive(pid) for pid in workers)


def test_mock_asks_for_its_credential(tmp_path: Path) -> None:
    with mock(tmp_path) as running:
        response = ask(running.port, request(CHAT, FINE, token="mock-credential"))
        assert response.status == 401
        assert json.loads(response.body)["error"]["code"] == "invalid_api_key"
        assert f"http://127.0.0.1:{running.port}" in running.output()
