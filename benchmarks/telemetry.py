"""What telemetry adds to a request: CPU of the gateway's worker, all of it.

Gateways of one worker each, in front of one upstream, take turns in one run: with no telemetry;
with the access log (into a pipe that is read); with the metrics; with both, which is the default;
with traces of 1 % besides, for a collector that takes them; and of every request. Log, metrics and
health together have to stay below 40 us, with traces of 1 % below 50 us. Then the time of a page of
metrics, and the mean duration by the histogram beside the mean that callers measure. Linux only.

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
from benchmarks.upstream_leg import gateway, run_in_process, start_process
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
    serving = start_process("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        collector = stack.enter_context(recorder())
        gateways = {}
        for name, more in CONFIGS.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            more = more.replace("URL", f"'{collector.url}'")
            gateways[name] = stack.enter_context(gateway(folder, upstream, more))
        take_turns(gateways, TURNS, requests)
        compare_clocks(gateways["both"][0])


def compare_clocks(port: int) -> None:
    """Print the mean latency that callers see and that of the histogram, one request at a time, and
    the time of a page of metrics."""
    start = time.perf_counter()
    before = durations(port)
    page_seconds = time.perf_counter() - start
    latencies = run_in_process("ask", port, 1, 1000)
    after = durations(port)
    caller_mean = statistics.mean(latencies)
    histogram_mean = (after[0] - before[0]) / (after[1] - before[1])
    print(f"callers  {caller_mean * 1e3:.3f} ms on average")
    print(f"metrics  {histogram_mean * 1e3:.3f} ms on average, by the histogram")
    print(f"page     {page_seconds * 1e3:.0f} ms")


def durations(port: int) -> tuple[float, float]:
    """Sum and count of the durations of chat."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        totals = dict(_SUM.findall(page.read().decode()))
    return float(totals["sum"]), float(totals["count"])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
