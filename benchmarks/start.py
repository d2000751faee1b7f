"""Start and reload until the first answer, and memory after load, of the shipped project.

    python -m benchmarks.start [ROUNDS [FOLDER ...]]

Each FOLDER is another checkout, whose gateway takes turns with that of this one. Seconds are wall
time, which says something only if the machine has nothing else to do; CPU is that of all processes
of the gateway. A cold start finds neither byte code nor parsed documents; another one finds byte
code only. A reload begins with SIGHUP and ends when a model of the new config is listed. Memory is
that of all processes, proportional (PSS), after 2,000 chats of 16 callers. Linux only.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.proc import cpu, memory
from benchmarks.serving import CREDENTIAL, HEADERS, ask, write_project
from tests.support.ports import free_port
from tests.support.running import environment

ROOT = Path(__file__).resolve().parent.parent
_CALLERS, _CHATS = 16, 2_000
_PATIENCE = 300.0
_POLL_SECONDS = 0.002
_NULL = subprocess.DEVNULL
_MODELS = "\nmodels:"


@dataclass(frozen=True, slots=True)
class Program:
    """A checkout, and a folder with the project that its gateway serves, and its caches."""

    root: Path
    folder: Path
    upstream: str

    @property
    def config(self) -> Path:
        return self.folder / "gw" / "gateway.yaml"

    @property
    def bytecode(self) -> Path:
        return self.folder / "bytecode"

    @property
    def documents(self) -> Path:
        return self.folder / "cache"

    @contextmanager
    def running(self, workers: int = 1) -> Iterator[tuple[int, int, float]]:
        """Its gateway: the process id of its master, its port, and when it was started."""
        port = free_port()
        write_project(str(self.folder), port, "off")
        text = self.config.read_text().replace("workers: 1", f"workers: {workers}")
        self.config.write_text(text)
        environ = {
            **environment({"OPENAI_UPSTREAM": self.upstream, "PYTHONPATH": str(self.root)}),
            "PYTHONPYCACHEPREFIX": str(self.bytecode),
            "XDG_CACHE_HOME": str(self.documents),
            **{f"{name}_API_KEY": CREDENTIAL for name in ("OPENAI", "ANTHROPIC", "GEMINI")},
        }
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "engine", "serve", "--config", str(self.config)]
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.folder, env=environ, stdout=_NULL, stderr=_NULL
        )
        try:
            yield process.pid, port, begin
        finally:
            process.terminate()
            process.wait(_PATIENCE)
            shutil.rmtree(self.config.parent)

    def start(self) -> Iterator[tuple[str, float]]:
        """The figures of a start, and of a reload after it."""
        with self.running() as (pid, port, begin):
            _await(lambda: ask(http.client.HTTPConnection("127.0.0.1", port)))
            yield "s", time.monotonic() - begin
            yield "CPU", cpu(pid)

    def reload(self) -> Iterator[tuple[str, float]]:
        """The figures of a reload that adds a model."""
        with self.running() as (pid, port, _):
            _await(lambda: _list_models(port, "gpt-4o"))
            time.sleep(1)  # everything has started
            model = f"{_MODELS}\n  added: {{to: [{{upstream: openai}}]}}"
            self.config.write_text(self.config.read_text().replace(_MODELS, model))
            begin, before = time.monotonic(), cpu(pid)
            os.kill(pid, signal.SIGHUP)
            _await(lambda: _list_models(port, "added"))
            yield "s", time.monotonic() - begin
            yield "CPU", cpu(pid) - before

    def memory(self, workers: int) -> Iterator[tuple[str, float]]:
        """Memory after load."""
        with self.running(workers) as (pid, port, _):
            _await(lambda: ask(http.client.HTTPConnection("127.0.0.1", port)))
            with ThreadPoolExecutor(_CALLERS) as callers:
                list(callers.map(_chat, [port] * _CALLERS))
            time.sleep(2)  # requests are recorded, and old memory is returned
            yield "MB", memory(pid) / 2**20


def _await(attempt: Callable[[], None]) -> None:
    """Try until it succeeds."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            attempt()
        except (OSError, http.client.HTTPException):
            if time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return


def _list_models(port: int, model: str) -> None:
    """Raises OSError if the model is not listed."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/v1/models", headers=HEADERS)
    if f'"{model}"'.encode() not in connection.getresponse().read():
        raise OSError(f"{model} is not listed")


def _chat(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(_CHATS // _CALLERS):
        ask(connection)


def _kinds() -> Iterator[tuple[str, Callable[[Program], Iterator[tuple[str, float]]]]]:
    """What is measured, in this order, and how."""

    def cold(program: Program) -> Iterator[tuple[str, float]]:
        shutil.rmtree(program.bytecode, ignore_errors=True)
        shutil.rmtree(program.documents, ignore_errors=True)
        return program.start()

    def documents(program: Program) -> Iterator[tuple[str, float]]:
        shutil.rmtree(program.documents, ignore_errors=True)
        return program.start()

    yield "start, cold", cold
    yield "start, documents to be read", documents
    yield "start, warm", Program.start
    yield "reload", Program.reload
    yield "memory, 1 worker", lambda program: program.memory(1)
    yield "memory, 2 workers", lambda program: program.memory(2)


def main(rounds: int, folders: Sequence[str]) -> None:
    """Print the median of all rounds, and the least."""
    figures: dict[tuple[str, str], list[list[float]]] = {}
    mock_port = free_port()
    mock = subprocess.Popen(
        [sys.executable, "-m", "engine", "mock", "--port", str(mock_port)],
        stdout=_NULL,
        stderr=_NULL,
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            roots = [ROOT, *(Path(each).resolve() for each in folders)]
            programs = []
            for number, root in enumerate(roots):
                place = Path(folder, str(number))
                place.mkdir()
                programs.append(Program(root, place, f"http://127.0.0.1:{mock_port}/v1"))
            for _ in range(rounds):
                for name, measure in _kinds():
                    for number, program in enumerate(programs):
                        for unit, value in measure(program):
                            columns = figures.setdefault((name, unit), [[] for _ in programs])
                            columns[number].append(value)
    finally:
        mock.terminate()
        mock.wait()
    for (name, unit), columns in figures.items():
        values = "  ".join(f"{statistics.median(c):7.2f} ({min(c):.2f})" for c in columns)
        print(f"{name:30} {unit:4} {values}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:])
