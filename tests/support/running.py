"""Gateway and mock for end-to-end tests, as processes on free ports of 127.0.0.1.

`platform()` is the shipped project, written out by `modelway init`, in front of `modelway mock`,
with a few tokens and models added; `gateway()` serves any config text.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine.config.keys import default
from engine.server.heavy_worker import HEAVY_NAME
from engine.server.recorder_process import RECORDER_NAME
from engine.server.worker import WORKER_NAME
from engine.values.caller import digest
from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.waiting import PATIENCE, Deadline, under_load, until
from tests.support.warm import Warm, WarmProcess

ALL = "mw-" + "a" * 64
"""A token for every model."""

LIMITED = "mw-" + "b" * 64
"""A token for `gpt-4o*` alone."""

EXPIRED = "mw-" + "c" * 64
"""An expired token."""

CREDENTIAL = "upstream-credential"
"""The credential that the mock accepts and only the gateway has."""

CLIENT_SECRET_KEY = "0123456789abcdef" * 3
"""The key with which the gateway seals client secrets."""

TOKENS = f"""
tokens:
  - {{name: everything, sha256: {digest(ALL)}}}
  - {{name: limited, sha256: {digest(LIMITED)}, models: ["gpt-4o*"]}}
  - {{name: late, sha256: {digest(EXPIRED)}, expires: "2020-01-31"}}
"""

_UPSTREAMS = """
  wrong:
    url: "${MOCK}/v1"
    credential: {bearer: not-the-one}
    proxy: ""
  wrong-gemini:
    url: "${MOCK}/v1beta"
    dialect: gemini
    credential: {bearer: no}
    proxy: ""
  nowhere:
    url: "http://127.0.0.1:9"
    proxy: ""
  first-byte:
    url: "${MOCK}/v1"
    credential: {bearer: "${OPENAI_API_KEY}"}
    timeouts: {first_byte: 300ms}
    proxy: ""
  idle:
    url: "${MOCK}/v1"
    credential: {bearer: "${OPENAI_API_KEY}"}
    timeouts: {idle: 300ms}
    proxy: ""
"""
_MODELS = """
  "fault-*":
    to: [{upstream: openai}, {upstream: anthropic}, {upstream: gemini}]
    translate: off
  native-gpt: {to: [{upstream: openai}], translate: off}
  native-claude: {to: [{upstream: anthropic}], translate: off}
  renamed: {to: [{upstream: openai, model: the-real-name}]}
  page-1: &page {to: [{upstream: anthropic}, {upstream: gemini}]}
  page-2: *page
  page-3: *page
  page-4: *page
  "meta-llama/Llama-3:free":
    to: [{upstream: openai}, {upstream: anthropic}, {upstream: gemini}]
  "org/m:x": {title: Odd Name, to: [{upstream: openai}]}
  wrong: {to: [{upstream: wrong}]}
  wrong-gemini: {to: [{upstream: wrong-gemini}]}
  nowhere: {to: [{upstream: nowhere}]}
  slow: {to: [{upstream: first-byte, model: fault-slow-9}]}
  stalled-2: {to: [{upstream: idle, model: fault-stall-after-2}]}
  stalled-6: {to: [{upstream: idle, model: fault-stall-after-6}]}
"""


_AT_IMPORT = ("PYTHON", "GEVENT", "LD_", "MALLOC")
"""How the names of variables begin that a process reads before it runs `engine`."""


@dataclass(frozen=True)
class Running:
    """A server that answers. `log` is where its stdout and stderr go, `telemetry` the port of a
    gateway's metrics and health (0: none of its own)."""

    process: subprocess.Popen[bytes] | WarmProcess
    port: int
    log: Path
    telemetry: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def output(self) -> str:
        """Its output so far."""
        return self.log.read_text(errors="replace")

    def workers(self, *, heavy: bool = False) -> list[int]:
        """The process ids of the workers that accept connections, or of the `heavy` ones. A child
        of `modelway serve` that has no name yet is none of them."""
        if heavy:
            return self._children(lambda name: name == HEAVY_NAME)
        named = self._children(lambda name: name == WORKER_NAME)
        return named or self._children(lambda name: name not in (HEAVY_NAME, RECORDER_NAME))

    def recorders(self) -> list[int]:
        """The process ids of the recorders: one, or two within a reload."""
        return self._children(lambda name: name == RECORDER_NAME)

    def _children(self, matches: Callable[[str], bool]) -> list[int]:
        """The child processes whose name matches."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if matches(_name(child))]

    def stop(self) -> None:
        """Kill the whole process group, and wait."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(under_load())


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:  # it has ended
        return ""


@dataclass(frozen=True)
class Platform:
    """The shipped gateway in front of the mock."""

    gateway: Running
    mock: Running
    folder: Path

    @property
    def url(self) -> str:
        return self.gateway.url

    @property
    def port(self) -> int:
        return self.gateway.port


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without proxies and variables that change a gateway."""
    own_variables = re.compile(
        r".*_PROXY|.*_UPSTREAM|.*_API_KEY|MODELWAY_.*|GUNICORN_.*|COLUMNS|SSL_CERT_FILE",
        re.IGNORECASE,
    )
    variables = {
        name: value for name, value in os.environ.items() if not own_variables.fullmatch(name)
    }
    return {**variables, "PYTHONUNBUFFERED": "1", **(more or {})}


def modelway(
    *arguments: str | Path,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    warm: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `modelway` with arguments, at most PATIENCE seconds. A `warm` one is a copy of a process
    that has imported the engine, in a session of its own, as in `start`."""
    words, variables = [str(word) for word in arguments], environment(environ)
    if not (warm and _may_be_warm(environ)):
        return subprocess.run(
            [*map(str, engine()), *words],
            cwd=cwd,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = warm_process().start(words, cwd or Path.cwd(), variables, out, err)
        try:
            status = process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
        texts = [_text_of(file) for file in (out, err)]
    return subprocess.CompletedProcess(words, status, *texts)


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _may_be_warm(environ: Mapping[str, str] | None) -> bool:
    """Whether no variable is read before `engine` runs."""
    return not any(name.startswith(_AT_IMPORT) for name in environ or ())


def start(
    command: Sequence[str | Path],
    port: int,
    folder: Path,
    environ: Mapping[str, str] | None = None,
    *,
    passed: socket.socket | None = None,
    warm: bool = False,
    descriptors: int | None = None,
) -> Running:
    """Start a server in `folder`, and wait until it answers HTTP on `port`. With a `passed`
    listening socket it is started with socket activation, as by systemd. A `warm` start of
    `engine(...)` takes less CPU time (`warm.py`), unless the environment has variables for Python;
    it may have a limit of `descriptors`.

    AssertionError, with its output, if it ends or does not answer.
    """
    log = folder / f"{port}.log"
    if passed is not None:
        log = folder / f"{port}-{len(list(folder.glob(f'{port}*.log')))}.log"
        as_systemd = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&0 </dev/null'
        command = ["sh", "-c", as_systemd, "sh", *command]
    words, variables = [str(word) for word in command], environment(environ)
    process: subprocess.Popen[bytes] | WarmProcess
    with log.open("wb") as out:
        if warm and _may_be_warm(environ):
            words = words[len(engine()) :]
            process = warm_process().start(words, folder, variables, out, descriptors=descriptors)
        else:
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=variables,
                stdin=passed,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    running = Running(process, port, log)
    deadline = Deadline()
    while process.poll() is None and not deadline.passed():
        if _answers(port):
            return running
        time.sleep(0.02)
    running.stop()
    raise AssertionError(
        f"{command} did not answer on port {port}. Its output:\n{running.output()}"
    )


@functools.cache
def warm_process() -> Warm:
    """The one of this process. It ends when this process does."""
    process = Warm()
    atexit.register(process.stop)
    return process


def _answers(port: int) -> bool:
    """Whether a request gets a response: a master that listens without workers gives none."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return bool(sock.recv(1))
    except OSError:
        return False


def engine(*arguments: str | Path) -> list[str | Path]:
    """The command line of `modelway` with arguments."""
    return [sys.executable, "-m", "engine", *arguments]


@contextmanager
def gateway(
    folder: Path, config: str, environ: Mapping[str, str] | None = None, *, warm: bool = True
) -> Iterator[Running]:
    """Serve a config: its text, with `{listen}` where the address goes, in `folder`.

    Its metrics and health get a free port, unless the text says `listen` under `telemetry`. All of
    its workers have been started: gunicorn starts them one after the other, and the first may
    answer before the last is there.
    """
    port, telemetry = free_port(), free_port()
    path = folder / "gateway.yaml"
    text = with_telemetry(config, f"127.0.0.1:{telemetry}")
    path.write_text(text.replace("{listen}", f"127.0.0.1:{port}"))
    content = yaml_text.load(text)
    server = content["server"]
    workers = server.get("workers", default("server.workers"))
    heavy = server.get("heavy", {}).get("processes", default("server.heavy.processes"))
    # Named from its folder, as by a user: documents have the same names in each, and the same
    # entries in the cache.
    running = start(engine("serve", "-c", path.name), port, folder, environ, warm=warm)
    try:
        until(lambda: len(running.workers(heavy=True)) >= heavy, f"{heavy} heavy workers")
        until(lambda: len(running.workers()) >= workers, f"{workers} workers", PATIENCE)
        if "records" in (content.get("stores") or {}):
            until(running.recorders, "a recorder")
        yield dataclasses.replace(running, telemetry=telemetry)
    finally:
        running.stop()


def with_telemetry(config: str, listen: str) -> str:
    """A config's text with an address for metrics and health, unless it has one."""
    section = re.search(r"^telemetry:[ \t]*(\{|\n(?=([ ]+)))", config, re.MULTILINE)
    if section is None:
        return f"{config.rstrip()}\ntelemetry: {{listen: '{listen}'}}\n"
    rest = config[section.end() :]
    if re.match(r"\s*listen:", rest):
        return config
    line = f"listen: '{listen}'"
    line = f"{line}, " if section[1] == "{" else f"{section[2]}{line}\n"
    return config[: section.end()] + line + rest


@contextmanager
def mock(folder: Path, *options: str) -> Iterator[Running]:
    """The mock upstream, which accepts CREDENTIAL."""
    port = free_port()
    command = engine("mock", "--port", str(port), "--credential", CREDENTIAL, *options)
    running = start(command, port, folder, warm=True)
    try:
        yield running
    finally:
        running.stop()


def listens(port: int) -> bool:
    """Whether a socket listens on a port, by /proc: no connection is made."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1] == f"0100007F:{port:04X}" and row[3] == "0A" for row in rows)


def shipped(folder: Path) -> str:
    """Write the shipped project into `folder`, with links to the checkout's documents: a gateway
    that finds them in the cache starts with a third less of CPU time. The text of its gateway.yaml,
    for `gateway`.

    It has the tests' tokens, and `{listen}` in place of the address.
    """
    documents = folder / "openapi"
    documents.mkdir(parents=True)
    for document in (ROOT / "openapi").iterdir():
        (documents / document.name).symlink_to(document)
    (folder / "schemas").symlink_to(ROOT / "schemas")
    shutil.copy(ROOT / "objects.yaml", folder)
    text = (ROOT / "gateway.yaml").read_text()
    text = replaced(text, 'listen: "127.0.0.1:8080"', 'listen: "{listen}"')
    text = replaced(text, r"telemetry:\n  listen: .*\n\n", "")  # `gateway` gives it a port
    return replaced(text, r"tokens:.*\n", TOKENS)


_LARGE = ("openai-media", "openai-tuning", "openai-agents", "anthropic-agents", "gemini-agents")
"""Documents of objects.yaml that hold two thirds of its operations."""


def shipped_with_files(folder: Path) -> str:
    """As `shipped`, with the files, batches and stored responses of objects.yaml alone."""
    config = shipped(folder)
    objects = yaml_text.load((folder / "objects.yaml").read_text())
    for name in _LARGE:
        del objects["specs"][name]
    routes = []
    for route in objects["routes"]:
        names = [name for name in route["operations"] if name.partition(".")[0] not in _LARGE]
        routes.append({**route, "operations": names})
    (folder / "objects.yaml").write_text(yaml_text.dump({**objects, "routes": routes}))
    return replaced(config, r"# include: \[objects.yaml\]", "include: [objects.yaml]")


def replaced(text: str, pattern: str, new: str) -> str:
    """The text with the only match of a pattern replaced. AssertionError unless there is one."""
    result, count = re.subn(pattern, lambda match: new, text)
    assert count == 1, f"{count} matches of {pattern!r} in gateway.yaml"
    return result


def patient(config: str, *, attempts: int = 1) -> str:
    """The config with `attempts` attempts for each upstream, and breakers that never open."""
    more = f"\n    breaker: {{failures: 1000000}}\n    retry: {{attempts: {attempts}, budget: 1}}"
    result, count = re.subn(r"(?<=\n)    url: .*", lambda match: match[0] + more, config)
    assert count >= 4, f"{count} upstreams with a url in gateway.yaml"
    return result


def pointed_at(url: str) -> dict[str, str]:
    """The environment that points the shipped upstreams at a server."""
    paths = {"OPENAI": "/v1", "ANTHROPIC": "/v1", "RERANK": "/v1", "GEMINI": "/v1beta"}
    return {
        **{f"{name}_UPSTREAM": url + path for name, path in paths.items()},
        **{f"{name}_API_KEY": CREDENTIAL for name in paths},
        **dict.fromkeys(("MOCK", "UPSTREAM"), url),
        "CLIENT_SECRET_KEY": CLIENT_SECRET_KEY,
        "NO_PROXY": "*",
    }


@contextmanager
def platform(folder: Path, *options: str) -> Iterator[Platform]:
    """The shipped gateway, two workers, in front of a mock; both end with the block."""
    config = shipped(folder / "project")
    config = replaced(config, r"\nmodels:.*\n", f"{_UPSTREAMS}\nmodels:\n")
    config = replaced(config, r"\nroutes:\n", f"{_MODELS}\nroutes:\n")
    with (
        mock(folder, *options) as upstream,
        gateway(folder / "project", patient(config), pointed_at(upstream.url)) as front,
    ):
        yield Platform(front, upstream, folder / "project")
