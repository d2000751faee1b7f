"""The second opinion and openapi-core are imported when a comparison is asked for."""

import subprocess
import sys

import pytest

PARTS = ("openapi_core", "engine.offline.second_opinion")
IMPORTED = f"import sys; print([name for name in sys.modules if name.startswith({PARTS})])"


def modules_after(statement: str) -> str:
    code = f"{statement}\n{IMPORTED}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.mark.parametrize(
    "module",
    [
        *("engine.app.build", "engine.server.worker", "engine.cli.serve"),
        *("engine.cli.check", "engine.cli.explain", "engine.cli.test"),
    ],
)
def test_a_module_is_imported_without_them(module):
    assert modules_after(f"import {module}") == "[]"


def test_the_reader_imports_it():
    reader = "engine.offline.second_opinion.openapi_core_reader"
    assert "openapi_core" in modules_after(f"import {reader}")
