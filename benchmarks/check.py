"""What `modelway check` of documents costs: `python -m benchmarks.check [--runs N] FILE...`.

For each document, the CPU (user and system) of the whole process, without the cache of documents
and with it, the least of several runs, in seconds; the most memory; and the CPU for 1,000
operations, also without the start of the program, which is the check of a document of one
operation.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.source.problem import Findings
from engine.spec.document.path_items import operations_of
from engine.spec.load import load

ROOT = Path(__file__).resolve().parent.parent
_CONFIG = """\
version: 1
server: {{listen: "127.0.0.1:0"}}
specs: {{x: {{document: {document}, mount: [/x]}}}}
upstreams: {{u: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operations: "x.*", auth: none, to: [{{upstream: u}}]}}]
"""
_SMALLEST = (
    '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, '
    '"paths": {"/a": {"get": {"responses": {"200": {"description": "d"}}}}}}'
)
_HEADER = f"{'document':40}{'operations':>11}{'cold':>8}{'cached':>8}{'MB':>6}   a 1,000 operations"


class Cost(NamedTuple):
    """Seconds of CPU without the cache and with it, and the most megabytes."""

    cold: float
    cached: float
    megabytes: float


def cost(document: Path, runs: int) -> Cost:
    """What a check of a document costs, the least of some runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = _CONFIG.format(document=json.dumps(str(document)))
        (folder / "gateway.yaml").write_text(config)
        cold, cached = [], []
        for number in range(runs):
            cold.append(_run(folder, number))
            cached.append(_run(folder, number))
    megabytes = max(most for _, most in (*cold, *cached))
    return Cost(min(cold)[0], min(cached)[0], megabytes)


def _run(folder: Path, number: int) -> tuple[float, float]:
    """Seconds of CPU and megabytes of one check, with the cache of this number."""
    left_out = ("CI", "PYTHONDONTWRITEBYTECODE", "MODELWAY_CONFIG")
    environ = {key: value for key, value in os.environ.items() if key not in left_out}
    environ["XDG_CACHE_HOME"] = str(folder / f"cache{number}")
    child = os.fork()
    if child == 0:
        with (folder / "report.json").open("w") as report:
            os.dup2(report.fileno(), 1)
        words = ("check", "-c", str(folder / "gateway.yaml"), "--format", "json")
        os.execve(sys.executable, [sys.executable, str(ROOT / "modelway.py"), *words], environ)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"the check ended with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def operations(document: Path) -> int:
    """The number of operations of a document. Ends the program for a file that is none."""
    library = load(document, str(document), Findings())
    if library is None:
        raise SystemExit(f"{document} is no OpenAPI document")
    return sum(1 for _, item in library.document.get("paths").items() for _ in operations_of(item))


def main(documents: Iterable[Path], runs: int) -> None:
    """Print a row for each document."""
    with tempfile.TemporaryDirectory() as name:
        smallest = Path(name) / "smallest.json"
        smallest.write_text(_SMALLEST)
        start = cost(smallest, runs)
    print(_HEADER)
    print(f"{'the start of the program':51}{start.cold:8.2f}{start.cached:8.2f}{start[2]:6.0f}")
    for document in documents:
        count, spent = operations(document), cost(document, runs)
        thousands = max(count, 1) / 1000
        whole = f"{spent.cold / thousands:.2f} cold, {spent.cached / thousands:.2f} cached"
        cold, cached = max(spent.cold - start.cold, 0), max(spent.cached - start.cached, 0)
        rest = f"without the start {cold / thousands:.2f}, {cached / thousands:.2f}"
        figures = f"{spent.cold:8.2f}{spent.cached:8.2f}{spent.megabytes:6.0f}"
        print(f"{document.name[-39:]:40}{count:11}{figures}   {whole}; {rest}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    main([file.resolve() for file in options.files], options.runs)
