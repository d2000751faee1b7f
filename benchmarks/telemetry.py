"""What telemetry adds to a request: CPU of the gateway's worker, all of it.

Gateways of one worker each, in front of one upstream, take turns in one run: with no telemetry;
with the access log (into a pipe that is read); with the metrics; with both, which is the default;
with traces of 1 % besides, for a collector that takes them; and of every request. Log, metrics and
health together have to stay below 40 us, with traces of 1 % below 50 us. Then how long a page of
metrics takes while requests go on, and whether the histogram agrees with the callers' clock. Linux
only.

    python -m benchmarks.telemetry [requests a turn]
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack

from benchmarks.turns import take_turns
from benchmarks.upstream_leg import begin, elsewhere, gateway
from tests.support.ports import free_port
from tests.support.recording import recorder

TURNS = 25
CONFIGS = {
    "none": "telemetry: {access_log: {format: 'off'}, metrics: false}\n",
    "log": "telemetry: {access_log: {path: access.log}, metrics: false}\n",
    "metrics": "telemetry: {access_log: {format: 'off'}}\n",
    "both": "telemetry: {access_log: {path: access.log}}\n",
    "1 %": "telemetry: {access_log: {path: access.log}, traces: {endpoint: URL, sample: 0.01}}\n",
    "100 %": "telemetry: {access_log: {path: access.log}, traces: {endpoint: URL, sample: 1}}\n",
}
_SUM = re.compile(r"modelway_request_duration_seconds_(sum|count)\{.*Chat.*\} (\S+)")


def main(requests: int) -> None:
    upstream = free_port()
    serving = begin("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        collector = stack.enter_context(recorder())
        gateways = {}
        for name, more in CONFIGS.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            more = more.replace("URL", f"'{collector.url}'")
            gateways[name] = stack.enter_context(gateway(folder, upstream, more))
        take_turns(gateways, TURNS, requests)
        agree(gateways["both"][0])


def agree(port: int) -> None:
    """The callers' mean beside the histogram's, one request at a time; and the page's own time."""
    begun = time.perf_counter()
    before = durations(port)
    paged = time.perf_counter() - begun
    asked = elsewhere("ask", port, 1, 1000)
    after = durations(port)
    seen = statistics.mean(asked)
    told = (after[0] - before[0]) / (after[1] - before[1])
    print(f"callers  {seen * 1e3:.3f} ms on average, the histogram {told * 1e3:.3f} ms")
    print(f"page     {paged * 1e3:.0f} ms")


def durations(port: int) -> tuple[float, float]:
    """Sum and count of the durations of chat."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        found = dict(_SUM.findall(page.read().decode()))
    return float(found["sum"]), float(found["count"])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
