"""A first start compiles the program in two processes."""

import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

MODULE = "engine.values.wildcard"
PROGRAM = f"""
import os, sys
from engine.process import import_ahead
os.sched_getaffinity = lambda process: {{0}} if "one" in sys.argv else {{0, 1}}
if "read-only" in sys.argv:
    os.access = lambda path, mode: mode != os.W_OK
print(import_ahead.import_ahead(["{MODULE}", "engine.values.no_such_module"]))
try:
    os.wait()
except ChildProcessError:
    pass
assert "{MODULE}" not in sys.modules
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process without byte code, and returns what it printed, and whether there is byte
    code of the module now."""

    def run(*arguments, options=("-X", f"pycache_prefix={tmp_path}")):
        environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        result = subprocess.run(
            [sys.executable, *options, "-c", PROGRAM, *arguments],
            env=environ,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stderr == ""
        return result.stdout.strip(), any(tmp_path.rglob("wildcard.*.pyc"))

    return run


def test_a_child_writes_the_byte_code_that_is_missing_and_no_other_does(start):
    assert start() == ("True", True)
    assert start() == ("False", True)


def test_nothing_is_started_on_one_processor(start):
    assert start("one") == ("False", False)


def test_nothing_is_started_where_byte_code_is_not_written(start, tmp_path):
    options = ("-B", "-X", f"pycache_prefix={tmp_path}")
    assert start(options=options) == ("False", False)


def test_nothing_is_started_where_it_cannot_be_written(start):
    assert start("read-only") == ("False", False)
