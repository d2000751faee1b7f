"""What a large gateway costs: 10,000 models, 10,000 routes, 1,000 upstreams and 1,000,000 tokens.

Writes such a config, and a small one of the same kind, and prints four figures of the large one:
the CPU of a request against the small one, the memory of a worker, the time of `modelway check`,
and the time to the first response of a gateway that starts with the cache of documents. Requests
are for pairs of a route and a model that were asked for before, of as few upstreams in both; what
a request takes that uses one of many upstreams, whose connections are all in use, and what the
first request of a pair takes, are figures of their own. Linux only: it reads /proc.

    python -m benchmarks.growth [requests]
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.serving import cpu_seconds, workers
from engine.stores.records import tokens
from engine.stores.records.database import open_database
from engine.stores.records.migrate import upgrade
from engine.stores.records.tokens import Token
from engine.values.caller import digest
from tests.support.ports import free_port
from tests.support.recording import answer, recorder
from tests.support.running import environment
from tests.support.small import COMPLETION

SPECS = 10
"""The documents of the large config, each with a tenth of its operations."""
SCHEMA = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {"type": "string"},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "max_tokens": {"type": "integer", "minimum": 1},
    },
}


PAIRS = 100
"""The pairs of a route and a model that are asked for again and again."""
OTHER = 7
"""How far the second target of a model is from its first."""
FEW = 10
"""The upstreams of most requests, in both configs: those of the small one."""


@dataclass(frozen=True)
class Size:
    """The numbers of a config."""

    models: int
    routes: int
    upstreams: int
    tokens: int

    def pair(self, dice: random.Random) -> tuple[int, int]:
        """Any model, and any route."""
        return dice.randrange(self.models), dice.randrange(self.routes)

    def near_pair(self, dice: random.Random) -> tuple[int, int]:
        """A model and a route whose targets are among the first FEW upstreams (see `write`). As of
        any pairs, a tenth have a route to an upstream of its own, whose requests cost less."""
        model, route = self.pair(dice)
        if route % 10 == 9:
            return model, route - route % self.upstreams + 9
        while max(model % self.upstreams, (model + OTHER) % self.upstreams) >= FEW:
            model = dice.randrange(self.models)
        return model, route


SMALL = Size(10, 10, 10, 20_000)
LARGE = Size(10_000, 10_000, 1_000, 1_000_000)


def secret(number: int) -> str:
    """The token of a caller."""
    return f"mw-{number:064d}"


def write(folder: Path, size: Size, upstream: int, port: int, telemetry: int) -> Path:
    """The config and its documents. Upstreams are one server; routes name a model, but each tenth
    goes to an upstream of its own."""
    specs = []
    operations = max(1, size.routes // SPECS)
    routes = ["  - {operation: team0.list, answer: models}"]
    for first in range(0, size.routes, operations):
        name = f"team{first // operations}"
        specs.append(f"  {name}: {{document: {name}.json, dialect: openai}}")
        numbers = range(first, first + operations)
        (folder / f"{name}.json").write_text(json.dumps(document(numbers)))
        for number in numbers:
            goal = (
                f"to: [{{upstream: up{number % size.upstreams}}}]"
                if number % 10 == 9
                else 'model: "$request.body#/model"'
            )
            routes.append(f"  - {{operation: {name}.chat{number}, {goal}}}")
    upstreams = [
        f"  up{number}: {{url: 'http://127.0.0.1:{upstream}/v1', dialect: openai, proxy: '', "
        f"credential: {{bearer: '${{KEY}}'}}}}"
        for number in range(size.upstreams)
    ]
    models = [
        f"  model-{number}: {{to: [{{upstream: up{number % size.upstreams}}}, "
        f"{{upstream: up{(number + OTHER) % size.upstreams}, weight: 2}}]}}"
        for number in range(size.models)
    ]
    path = folder / "gateway.yaml"
    head = (
        "version: 1",
        f"server: {{listen: '127.0.0.1:{port}', workers: 1}}",
        f"telemetry: {{listen: '127.0.0.1:{telemetry}', access_log: {{format: 'off'}}}}",
        "stores: {records: 'sqlite:///records.db', journal: journal}",
    )
    path.write_text(
        "\n".join(
            [
                *(*head, "specs:", *specs, "upstreams:", *upstreams),
                *("models:", *models, "routes:", *routes, ""),
            ]
        )
    )
    return path


def document(numbers: Sequence[int]) -> dict[str, object]:
    """A document with an operation for each number."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Chat"}}}
    paths: dict[str, object] = {
        f"/r{number}/chat/completions": {
            "post": {
                "operationId": f"chat{number}",
                "requestBody": {"required": True, "content": content},
                "responses": {"default": {"description": "An answer"}},
            }
        }
        for number in numbers
    }
    if 0 in numbers:
        paths["/models"] = {"get": {"operationId": "list", "responses": {}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Growth", "version": "1"},
        "servers": [{"url": "/v1"}],
        "paths": paths,
        "components": {"schemas": {"Chat": SCHEMA}},
    }


def fill(folder: Path, size: Size) -> None:
    """The database with its tokens."""
    database = open_database(f"sqlite:///{folder}/records.db")
    upgrade(database)
    entries = (
        Token(f"token {number}", digest(secret(number)), 1.0, rate="1000000/1m")
        for number in range(size.tokens)
    )
    while batch := list(itertools.islice(entries, 20_000)):
        tokens.add(database, batch)
    database.close()


def modelway(*arguments: str | Path, folder: Path) -> subprocess.Popen[bytes]:
    """A command of this program, with the cache of documents in the folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "engine", *map(str, arguments)],
        cwd=folder,
        env=environment({"XDG_CACHE_HOME": str(folder / "cache"), "KEY": "upstream-key"}),
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
        self.fresh = itertools.count(100)
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


def main(requests: int) -> None:
    """Measure, and print."""
    sizes = {"small": SMALL, "large": LARGE}
    configs, ports = {}, {}
    with tempfile.TemporaryDirectory() as name, recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        for kind, size in sizes.items():
            folder = Path(name, kind)
            folder.mkdir()
            ports[kind] = free_port()
            configs[kind] = write(folder, size, upstream.port, ports[kind], free_port())
            fill(folder, size)
        for cache in ("without", "with"):
            seconds, cpu = check_seconds(folder, configs["large"])
            print(f"check {cache} the cache   {seconds:.1f} s ({cpu:.1f} s of CPU)", flush=True)
        with (
            serve(Path(name, "small"), configs["small"], SMALL, ports["small"]) as (small, _),
            serve(folder, configs["large"], LARGE, ports["large"]) as (large, seconds),
        ):
            print(f"start to first response   {seconds:.1f} s", flush=True)
            print(f"memory of a worker        {memory(large.worker)}", flush=True)
            compare(small, large, requests)
            for which in ("first", "next"):
                seconds, size = large.models()
                print(f"CPU of the {which} list of models {seconds * 1e3:.1f} ms ({size:,} bytes)")
            print(f"memory after the requests {memory(large.worker)}")


def compare(small: RunningGateway, large: RunningGateway, requests: int) -> None:
    """CPU per request, in alternation: the best of ten rounds of each."""
    kinds: dict[str, dict[str, bool]] = {
        "a request": {},
        "one over all upstreams": {"spread": True},
        "a token's first": {"fresh": True},
    }
    for name, options in kinds.items():
        rounds = [
            (small.cpu(requests // 10, **options), large.cpu(requests // 10, **options))
            for _ in range(10)
        ]
        least, most = (min(figures) for figures in zip(*rounds, strict=True))
        print(f"CPU of {name:22} {most:.0f} us, {least:.0f} us small: {most / least - 1:+.0%}")
    firsts = min(large.cpu(requests // 10, new_pairs=True) for _ in range(10))
    print(f"CPU of a pair's first         {firsts:.0f} us")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
