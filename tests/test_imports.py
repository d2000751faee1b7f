"""Every benchmark and trial can be imported and called, also after a part of the engine was
renamed."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import benchmarks
import trials
from tests.support.waiting import under_load

_OPTIONS = """
import inspect, sys
for module in list(sys.modules.values()):
    command = getattr(module, "main", None)
    if module.__name__.startswith("PACKAGE.") and hasattr(command, "params"):
        options = {option.name for option in command.params}
        parameters = set(inspect.signature(command.callback).parameters)
        assert options == parameters, (module.__name__, options ^ parameters)
"""


@pytest.mark.parametrize("package", [benchmarks, trials], ids=lambda package: package.__name__)
def test_every_program_can_be_imported_and_takes_its_options(package: ModuleType) -> None:
    name = package.__name__
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, f"{name}.")]
    assert len(modules) > 30
    lines = "\n".join(f"import {module}" for module in modules)
    lines += _OPTIONS.replace("PACKAGE", name)
    result = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=under_load(120)
    )
    assert result.returncode == 0, result.stderr
