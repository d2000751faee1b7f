"""The command: count, and compare or record.

The record holds bytecodes only: they are the same on every machine, whatever else it does.
Instructions depend on libraries and compilers, so they are compared within one run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from benchmarks.counts.verdict import judge, judge_all

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_RECORD = _HERE.parent / "counts.json"
_RUN = "benchmarks.counts.run"
_VALGRIND = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no"]
_NEEDED = ("valgrind", "gcc")


class Missing(Exception):
    """Instructions cannot be counted here; `str` says why."""


def bytecodes(root: Path = _ROOT) -> dict[str, int]:
    """Steps of the interpreter in the engine of the checkout at `root`."""
    with tempfile.TemporaryDirectory() as folder:
        return _run([sys.executable, "-m", _RUN, "bytecodes"], folder, root)


def instructions(module: str = _RUN, *arguments: str, root: Path = _ROOT) -> dict[str, int]:
    """Instructions, by callgrind, of the workload that a module of the checkout at `root` runs.

    Raises Missing.
    """
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
        return _run([*_VALGRIND, *command], folder, root)


def _run(command: list[str], folder: str, root: Path) -> dict[str, int]:
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    process = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{process.stderr[-3000:]}")
    counts: dict[str, int] = json.loads(process.stdout)
    return counts


@click.command()
@click.option("--write", is_flag=True, help="Renew the record of this Python.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Compare with another checkout instead, instructions included.",
)
def main(write: bool, against: Path | None) -> None:
    """Count what a request and an event take, and compare with the record."""
    if against is not None:
        _compare_checkouts(against)
        return
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    records = json.loads(_RECORD.read_text()) if _RECORD.exists() else {}
    if write:
        records[python] = bytecodes()
        _RECORD.write_text(json.dumps(dict(sorted(records.items())), indent=2) + "\n")
    elif python not in records:
        click.echo("no record of this Python: nothing is compared")
    else:
        verdicts = judge_all(records[python], bytecodes())
        for verdict in verdicts:
            click.echo(verdict.text)
        if not all(verdict.good for verdict in verdicts):
            raise SystemExit(1)


def _compare_checkouts(other: Path) -> None:
    """Print the counts of this checkout beside those of another."""
    try:
        for kind, count in (("bytecodes", bytecodes), ("instructions", instructions)):
            before, now = count(root=other), count()
            for unit, number in before.items():
                click.echo(judge(f"{kind} per {unit}", number, now[unit]).text)
    except Missing as missing:
        raise click.ClickException(str(missing)) from missing


if __name__ == "__main__":
    main()
