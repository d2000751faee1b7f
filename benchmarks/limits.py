"""What limits and the ledger add to a request: CPU of the gateway's worker, all of it.

Three gateways of one worker each, in front of one upstream, take turns in one run: with nothing on;
with records and ledger in SQLite and one limit of each kind (requests, slots, tokens, money)
counted in memory; and the same counted in Redis. What the worker does in the background, shipping
rows and settling, is included. Linux only.

    python -m benchmarks.limits [requests a turn]
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack

from benchmarks.turns import take_turns
from benchmarks.upstream_leg import ALONE, gateway, start_process
from tests.support.ports import free_port
from tests.support.redis_server import RedisServer

TURNS = 25
EVERYTHING = """\
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
    serving = start_process("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        redis = RedisServer()
        stack.callback(redis.close)
        configs = {
            "nothing on": ALONE,
            "everything, memory": ALONE + EVERYTHING.format(counters="memory"),
            "everything, Redis": ALONE + EVERYTHING.format(counters=redis.url),
        }
        gateways = {}
        for name, more in configs.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            gateways[name] = stack.enter_context(gateway(folder, upstream, more))
        take_turns(gateways, TURNS, requests)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
