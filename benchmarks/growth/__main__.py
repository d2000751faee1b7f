"""What a large gateway costs: 10,000 models, 10,000 routes, 1,000 upstreams and 1,000,000 tokens.

Writes such a config, and a small one of the same kind, and prints figures of the large one: the CPU
of a request against the small one, the memory of a worker, the time of `modelway check`, and the
time to the first response of a gateway that starts with the cache of documents. Requests are for
pairs of a route and a model that were asked for before, of as few upstreams in both; what a request
takes that uses one of many upstreams, whose connections are all in use, and what the first request
of a pair takes, are figures of their own. Then it asks for thousands of pairs, and starts gateways
whose operations have each a schema of its own. Linux only: it reads /proc.

    python -m benchmarks.growth [requests]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.growth.configs import LARGE, SMALL, Schemas, fill, write
from benchmarks.growth.gateway import FIRST_FRESH, RunningGateway, check_seconds, memory, serve
from tests.support.ports import free_port
from tests.support.recording import answer, recorder
from tests.support.small import COMPLETION

ROUNDS = 40
"""The rounds of a comparison; each measures both gateways."""
NEW_PAIRS = 22_000
"""Requests for pairs of a model and a route, drawn from all: they use nine of ten of both."""


def main(requests: int) -> None:
    """Measure, and print."""
    if requests * ROUNDS // 10 > SMALL.tokens - FIRST_FRESH:
        raise SystemExit(f"{requests} requests: the small gateway has too few tokens; write 4000")
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
        check_seconds(Path(name, "small"), configs["small"])  # compiles the modules
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
                seconds, length = large.models()
                figure = f"{seconds * 1e3:.1f} ms ({length:,} bytes)"
                print(f"CPU of the {which} list of models {figure}")
            ask_for_all(large)
        for schemas in ("equal", "different"):
            with_schemas(folder, upstream.port, schemas)


def compare(small: RunningGateway, large: RunningGateway, requests: int) -> None:
    """CPU per request: the median of each gateway, and of what the large one takes more than the
    small one in the same round."""
    kinds: dict[str, dict[str, bool]] = {
        "a request": {},
        "one over all upstreams": {"spread": True},
        "a token's first": {"fresh": True},
    }
    for name, options in kinds.items():
        rounds = [
            (small.cpu(requests // 10, **options), large.cpu(requests // 10, **options))
            for _ in range(ROUNDS)
        ]
        least, most = (statistics.median(figures) for figures in zip(*rounds, strict=True))
        more = statistics.median(b / a for a, b in rounds) - 1
        print(f"CPU of {name:22} {most:.0f} us, {least:.0f} us small: {more:+.0%}", flush=True)


def ask_for_all(large: RunningGateway) -> None:
    """CPU of the first requests of pairs, and memory after some thousands of them."""
    print(f"memory after the requests {memory(large.worker)}")
    half = NEW_PAIRS // 2
    for asked in (half, NEW_PAIRS):
        firsts = large.cpu(half, new_pairs=True)
        print(f"CPU of a pair's first     {firsts:.0f} us")
        print(f"memory after {asked:,} pairs {memory(large.worker)}", flush=True)


def with_schemas(folder: Path, upstream: int, schemas: Schemas) -> None:
    """Figures of the large config if each operation has a schema of its own."""
    port = free_port()
    config = write(folder, LARGE, upstream, port, free_port(), schemas)
    check_seconds(folder, config)
    seconds, cpu = check_seconds(folder, config)
    print(f"check, {schemas:9} schemas  {seconds:.1f} s ({cpu:.1f} s of CPU)", flush=True)
    with serve(folder, config, LARGE, port) as (gateway, seconds):
        print(f"start, {schemas:9} schemas  {seconds:.1f} s, {memory(gateway.worker)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
