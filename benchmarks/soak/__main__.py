"""The command: load, and memory of each worker by the minute."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import click
import orjson

from benchmarks.chat import CHAT
from benchmarks.compare.proc import parse_memory, tree
from benchmarks.compare.system import System, running
from benchmarks.compare.systems import ours
from benchmarks.compare.upstream import plain
from benchmarks.soak.growth import Sample, after, growth, minutes
from tests.support.ports import free_port

_EVERY = 5.0
_MB = 1024**2
_BAD = """upstreams:
  bad:
    url: http://127.0.0.1:{port}/v1
    dialect: openai
    timeouts: {{first_byte: 1s, idle: 1s}}
    breaker: {{failures: 1000000, cooldown: 1s}}
"""


@click.command()
@click.option("--minutes", "duration", default=30.0, show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--callers", default=32, show_default=True, help="At once.")
def main(duration: float, workers: int, callers: int) -> None:
    """Load the gateway with everything: chats, streams, refusals, faults and callers who leave."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        upstream = stack.enter_context(plain(folder))
        bad = free_port()
        _start(stack, "benchmarks.soak.faulty", str(bad))
        place = folder / "gateway"
        place.mkdir()
        system = ours.prepare(place, upstream, workers)
        _with_faults(system, bad)
        chat = {name: value for name, value in CHAT.items() if not name.startswith("stream")}
        master = stack.enter_context(running(system, orjson.dumps(chat)))
        arguments = (str(system.endpoint.port), system.tokens[0], str(callers))
        calling = _start(stack, "benchmarks.soak.callers", *arguments)
        samples = _watch(master, calling, duration * 60)
    _tell(samples)


def _with_faults(system: System, port: int) -> None:
    config = system.folder / "gateway.yaml"
    text = config.read_text().replace("upstreams:\n", _BAD.format(port=port))
    config.write_text(text.replace("models: {", 'models: {"bad-*": {to: [{upstream: bad}]}, '))


def _start(stack: ExitStack, module: str, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _watch(master: int, calling: subprocess.Popen[str], seconds: float) -> list[Sample]:
    """Take samples, and print one for each minute."""
    counts: list[tuple[int, int]] = [(0, 0)]
    threading.Thread(target=_listen, args=(calling, counts), daemon=True).start()
    samples: list[Sample] = []
    start, printed_minutes = time.monotonic(), 0
    while (now := time.monotonic() - start) < seconds:
        time.sleep(min(_EVERY, seconds - now))
        samples.append(Sample(time.monotonic() - start, counts[-1][0], _workers(master)))
        if calling.poll() is not None:
            raise SystemExit("the callers ended")
        if samples[-1].seconds // 60 > printed_minutes:
            printed_minutes += 1
            click.echo(_line(minutes(samples)[printed_minutes - 1]))
    requests, unexpected = counts[-1]
    click.echo(f"{requests:,} requests, {unexpected} of them answered otherwise than expected")
    return samples


def _listen(calling: subprocess.Popen[str], counts: list[tuple[int, int]]) -> None:
    assert calling.stdout is not None
    for line in calling.stdout:
        requests, unexpected = map(int, line.split())
        counts[:] = [(requests, unexpected)]


def _workers(master: int) -> dict[int, int]:
    """Resident bytes of each process below the master."""
    return {
        pid: parse_memory(Path(f"/proc/{pid}/smaps_rollup").read_text(), "Rss")
        for pid in tree(master)
        if pid != master
    }


def _line(sample: Sample) -> str:
    memory = "  ".join(f"{pid}: {size / _MB:.1f} MB" for pid, size in sample.workers.items())
    return f"{sample.seconds / 60:5.1f} min  {sample.requests:>10,} requests  {memory}"


def _tell(samples: list[Sample]) -> None:
    later_sample = after(samples, 100_000)
    if later_sample is not None:
        click.echo(f"after 100,000 requests: {_line(later_sample)}")
    for pid, more in growth(samples).items():
        click.echo(f"worker {pid} grew by {more / _MB:+.2f} MB in the last half")


if __name__ == "__main__":
    main()
