"""The command: count, and compare or record."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from benchmarks.counts.alike import difference, surroundings
from benchmarks.counts.verdict import Verdict, judge_all

_HERE = Path(__file__).resolve().parent
_RECORD = _HERE.parent / "counts.json"
_RUN = "benchmarks.counts.run"
_VALGRIND = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no"]
_NEEDED = ("valgrind", "gcc")


class Missing(Exception):
    """Instructions cannot be counted here; `str` says why."""


def bytecodes() -> dict[str, int]:
    """Steps of the interpreter in the engine."""
    return _run([sys.executable, "-m", _RUN, "bytecodes"])


def instructions(module: str = _RUN, *arguments: str) -> dict[str, int]:
    """Instructions, by callgrind, of the workload that a module runs. Raises Missing."""
    missing = [tool for tool in _NEEDED if shutil.which(tool) is None]
    if missing:
        raise Missing(f"there is no {' and no '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/marks.so"
        command = ["gcc", "-O1", "-shared", "-fPIC", "-o", library, str(_HERE / "marks.c")]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            raise Missing(f"marks.c does not compile: {process.stderr.strip()[:200]}")
        command = [sys.executable, "-m", module, "instructions", library, *arguments]
        return _run([*_VALGRIND, *command], folder)


def _run(command: list[str], folder: str | None = None) -> dict[str, int]:
    paths = [str(_HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    process = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{process.stderr[-3000:]}")
    counts: dict[str, int] = json.loads(process.stdout)
    return counts


def compare(record: dict[str, Any]) -> list[Verdict]:
    """What there is to say of this Python's counts beside the record."""
    if not record:
        return [Verdict("no record of this Python: nothing is compared", True)]
    verdicts = judge_all("bytecodes", record["bytecodes"], bytecodes())
    recorded = record["instructions"]
    try:
        why = difference(recorded["with"], surroundings()) if shutil.which("valgrind") else ""
        if why:
            raise Missing(f"the record is of another installation: {why}")
        verdicts += judge_all("instructions", recorded, instructions())
    except Missing as missing:
        verdicts.append(Verdict(f"instructions: not compared, as {missing}", True))
    return verdicts


@click.command()
@click.option("--write", is_flag=True, help="Renew the record of this Python.")
def main(write: bool) -> None:
    """Count what a request and an event take, and compare with the record."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    records = json.loads(_RECORD.read_text()) if _RECORD.exists() else {}
    if write:
        try:
            instruction_counts = instructions()
        except Missing as missing:
            raise click.ClickException(str(missing)) from missing
        record = {
            "bytecodes": bytecodes(),
            "instructions": {**instruction_counts, "with": surroundings()},
        }
        records[python] = record
        _RECORD.write_text(json.dumps(dict(sorted(records.items())), indent=2) + "\n")
        return
    verdicts = compare(records.get(python, {}))
    for verdict in verdicts:
        click.echo(verdict.text)
    if not all(verdict.good for verdict in verdicts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
