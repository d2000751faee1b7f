"""Every benchmark can be imported and called, also after a part of the engine was renamed."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import benchmarks

MODULES = [module.name for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]

_OPTIONS = """
import inspect, sys
for module in list(sys.modules.values()):
    command = getattr(module, "main", None)
    if module.__name__.startswith("benchmarks.") and hasattr(command, "params"):
        options = {option.name for option in command.params}
        parameters = set(inspect.signature(command.callback).parameters)
        assert options == parameters, (module.__name__, options ^ parameters)
"""


def test_every_benchmark_can_be_imported_and_takes_its_options() -> None:
    assert len(MODULES) > 30
    lines = "\n".join(f"import {name}" for name in MODULES)
    lines += _OPTIONS
    result = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
