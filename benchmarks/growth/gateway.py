"""A running gateway of a config, and what is measured of it."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth.configs import Size, secret
from benchmarks.serving import cpu_seconds, workers
from tests.support.running import environment

PAIRS = 100
"""The pairs of a route and a model that are asked for again and again."""
FIRST_FRESH = 100
"""The number of the first token that was never used."""


def modelway(*arguments: str | Path, folder: Path) -> subprocess.Popen[bytes]:
    """A command of this program, with the cache of documents in the folder. Its modules are
    compiled once, as those of an installed program."""
    return subprocess.Popen(
        [sys.executable, "-m", "engine", *map(str, arguments)],
        cwd=folder,
        env=environment(
            {
                "XDG_CACHE_HOME": str(folder / "cache"),
                "KEY": "upstream-key",
                "PYTHONDONTWRITEBYTECODE": "",
            }
        ),
        stdout=(folder / "output.log").open("ab"),
        stderr=subprocess.STDOUT,
    )


@dataclass
class RunningGateway:
    """A gateway that serves one of the configs, over one connection."""

    process: subprocess.Popen[bytes]
    size: Size
    port: int
    dice: random.Random

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.worker = workers(self.process.pid)[0]
        self.fresh = itertools.count(FIRST_FRESH)
        self.pairs = [self.size.near_pair(self.dice) for _ in range(PAIRS)]
        self.spread_pairs = [self.size.pair(self.dice) for _ in range(PAIRS)]
        for pair in (self.pairs + self.spread_pairs) * 10:  # until both targets were asked
            ask(self.connection, pair, 1)

    def cpu(
        self,
        requests: int,
        *,
        fresh: bool = False,
        spread: bool = False,
        new_pairs: bool = False,
    ) -> float:
        """Microseconds of CPU per request of the worker. `fresh`: each has a token of its own that
        was never used; `spread`: any of the upstreams is asked; `new_pairs`: a route and a model
        that were hardly ever asked for together.
        """
        pairs = self.spread_pairs if spread else self.pairs
        before = cpu_seconds(self.worker)
        for _ in range(requests):
            pair = self.size.pair(self.dice) if new_pairs else self.dice.choice(pairs)
            ask(self.connection, pair, next(self.fresh) if fresh else 1)
        return (cpu_seconds(self.worker) - before) / requests * 1e6

    def models(self) -> tuple[float, int]:
        """Seconds of CPU of the worker for a list of all models, and its bytes."""
        before = cpu_seconds(self.worker)
        self.connection.request("GET", "/v1/models", headers=authorization(1))
        size = len(self.connection.getresponse().read())
        return cpu_seconds(self.worker) - before, size


def authorization(token: int) -> dict[str, str]:
    """The header with the token of a caller."""
    return {"authorization": f"Bearer {secret(token)}"}


def ask(connection: http.client.HTTPConnection, pair: tuple[int, int], token: int) -> None:
    """Send a request for a model to a route, and read its response."""
    model, route = pair
    body = {"model": f"model-{model}", "messages": [{"role": "user", "content": "Hello there!"}]}
    headers = {**authorization(token), "content-type": "application/json"}
    connection.request("POST", f"/v1/r{route}/chat/completions", json.dumps(body), headers)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise SystemExit(f"answered {response.status}")


def memory(pid: int) -> str:
    """The resident memory of a process (Rss), and its proportional memory (Pss): a page shared by
    two processes counts half for each."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    rss, pss = (re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE) for name in ("Rss", "Pss"))
    assert rss is not None
    assert pss is not None
    return f"{int(rss[1]) / 1024:.0f} MB ({int(pss[1]) / 1024:.0f} MB proportional)"


@contextmanager
def serve(
    folder: Path, config: Path, size: Size, port: int
) -> Iterator[tuple[RunningGateway, float]]:
    """A gateway that answers, and the seconds from its start to the first response."""
    start = time.monotonic()
    process = modelway("serve", "-c", config, folder=folder)
    try:
        while True:
            if process.poll() is not None or time.monotonic() - start > 300:
                raise SystemExit((folder / "output.log").read_text()[-2000:])
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                ask(connection, (0, 0), 0)
                break
            except OSError:
                time.sleep(0.01)
        seconds = time.monotonic() - start
        yield RunningGateway(process, size, port, random.Random(1)), seconds
    finally:
        process.terminate()
        process.wait()


def check_seconds(folder: Path, config: Path) -> tuple[float, float]:
    """Seconds of `modelway check`: in all, and of CPU."""
    start, before = time.monotonic(), os.times()
    if modelway("check", "--quiet", "-c", config, folder=folder).wait():
        raise SystemExit((folder / "output.log").read_text()[-2000:])
    after = os.times()
    cpu = after.children_user + after.children_system
    return time.monotonic() - start, cpu - before.children_user - before.children_system
