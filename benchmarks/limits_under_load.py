"""Whether limits in Redis are exact on a machine without idle CPU: in each run exactly the amount
of the limit must pass.

Three gateways of two workers each, one Redis, the upstream, the callers and processes that burn CPU
share this machine; Redis has the same priority as all others. In each of 30 runs at a time, six
callers send three times as many requests as one limit lets pass. All keys have their defaults.

    python -m benchmarks.limits_under_load [runs [amount of each limit [processes that burn CPU]]]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from benchmarks.upstream_leg import start_process
from tests.support import crowd, recording
from tests.support.ports import free_port
from tests.support.redis_server import RedisServer
from tests.support.running import gateway
from tests.support.small import chat, project

GATEWAYS, WORKERS, CALLERS = 3, 2, 6
_AWAY = re.compile(r"^modelway_counters_away_total\S* ([\d.e+]+)$", re.MULTILINE)


def main(runs: int, amount: int, burning: int) -> int:
    """How many runs did not let the amount pass."""
    crowd.PATIENCE = 600.0
    policy = f"[rate_limit: {{requests: {amount}, per: 1h, by: route}}]"
    routes = {f"run-{number}": policy for number in range(runs)}
    upstream = free_port()
    with ExitStack() as stack:
        serving = start_process("serve_upstream", upstream)
        stack.callback(serving.wait)
        stack.callback(serving.kill)
        redis = RedisServer()
        stack.callback(redis.close)
        more = f"stores: {{counters: '{redis.url}', machines: {GATEWAYS}}}\n"
        fronts = []
        for _ in range(GATEWAYS):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = f"http://127.0.0.1:{upstream}"
            config = project(folder, url, routes, more=more, workers=WORKERS)
            fronts.append(stack.enter_context(gateway(folder, config)))
        for _ in range(burning):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        ports = [front.port for front in fronts]
        start = time.monotonic()

        def run(name: str) -> Counter[int]:
            return crowd.crowd(ports, chat(name), 3 * amount, CALLERS)

        with ThreadPoolExecutor(runs) as threads:
            results = list(threads.map(run, routes))
        seconds = time.monotonic() - start
        pages = [
            recording.ask(front.telemetry, recording.request("/metrics")).body.decode()
            for front in fronts
        ]
    wrong = [dict(statuses) for statuses in results if statuses != {200: amount, 429: 2 * amount}]
    away = sum(float(count) for page in pages for count in _AWAY.findall(page))
    print(f"{os.cpu_count()} processors, {burning} processes that burn CPU, {seconds:.0f} s")
    print(f"{runs} runs, {amount} of {3 * amount} requests may pass: exact in {runs - len(wrong)}")
    print(f"requests that Redis did not decide: {away:.0f}")
    for statuses in wrong:
        print(f"  {statuses}")
    return len(wrong)


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(arguments + [30, 200, 8][len(arguments) :])) > 0)
