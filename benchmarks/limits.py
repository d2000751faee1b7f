"""What limits and the ledger add to a request: CPU of the gateway's worker, all of it.

Three gateways of one worker each, in front of one upstream, take turns in one run: with nothing on;
with records and ledger in SQLite and one limit of each kind (requests, slots, tokens, money)
counted in memory; and the same counted in Redis. What the worker does in the background, shipping
rows and settling, is included. Linux only.

    python -m benchmarks.limits [requests a turn]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from contextlib import ExitStack
from functools import partial

from benchmarks.serving import free_port
from benchmarks.upstream_leg import begin, elsewhere, gateway, spent
from tests.support.redis_server import RedisServer

TURNS = 5
CONNECTIONS = 16
EVERYTHING = """
stores: {{records: "sqlite:///var/modelway.db", counters: "{counters}"}}
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
policies:
  - rate_limit: {{requests: 100000000, per: 1m}}
  - concurrency: {{requests: 1000}}
  - token_budget: {{tokens: 100000000000, per: 1d}}
  - spend_limit: {{amount: 1000000, per: 30d}}
"""


def main(requests: int) -> None:
    upstream = free_port()
    serving = begin("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        redis = RedisServer()
        stack.callback(redis.close)
        configs = {
            "nothing on": "",
            "everything, memory": EVERYTHING.format(counters="memory"),
            "everything, Redis": EVERYTHING.format(counters=redis.url),
        }
        gateways = {}
        for name, more in configs.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            gateways[name] = stack.enter_context(gateway(folder, upstream, more))
        took: dict[str, list[float]] = {name: [] for name in gateways}
        for _ in range(TURNS):
            for name, (port, pid) in gateways.items():
                work = partial(elsewhere, "ask", port, CONNECTIONS, requests)
                took[name].append(spent(pid, work, requests))
            print("  ".join(f"{name} {turns[-1]:4.0f} us" for name, turns in took.items()))
        report(took)


def report(took: dict[str, list[float]]) -> None:
    """The median of what each turn added to the turn with nothing on beside it."""
    bare, *others = took
    for name in others:
        added = [more - less for more, less in zip(took[name], took[bare], strict=True)]
        print(f"{name:<20} adds {statistics.median(added):4.0f} us of CPU per request")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
