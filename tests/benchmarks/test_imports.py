"""Every benchmark can be imported, also after a part of the engine was renamed."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import benchmarks

MODULES = [module.name for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]


def test_every_benchmark_can_be_imported() -> None:
    assert len(MODULES) > 30
    lines = "\n".join(f"import {name}" for name in MODULES)
    result = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
