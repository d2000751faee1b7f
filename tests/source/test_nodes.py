"""Node trees of YAML, of a limited depth."""

from __future__ import annotations

import subprocess
import sys

from tests.support.each import each
from tests.support.reading import problems_of


@each("text", ["[" * 900 + "]" * 900, "{a: " * 900 + "}" * 900])
def test_deep_nesting_is_a_problem_and_no_traceback(text):
    assert [code for _, _, code, _ in problems_of("x: " + text)] in ([], ["MW001"])


@each("text", ["[" * 9_000, "{a: " * 9_000, "- " * 9_000, "? - " * 9_000, '{"a":' * 9_000])
def test_nesting_that_the_parser_itself_refuses_is_named_the_same(text):
    assert [(code, message) for _, _, code, message in problems_of(text + "1")] == [
        ("MW001", "nested too deeply to be read")
    ]


@each("text", ["'[' * 50_000", "'- ' * 50_000", "'{a: ' * 50_000", "'{\"a\":' * 50_000"])
def test_very_deep_nesting_does_not_end_the_process(text):
    code = f"from engine.source.reader import read; print(len(read({text} + '1', 'f').problems))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout.strip()) == (0, "1"), ran.stderr[-300:]
