"""Every test that the security model names exists."""

import ast
import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/explanation/security.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_named_test_exists(file, test):
    module = ast.parse((ROOT / file).read_text("utf-8"))
    functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    assert not test or test in functions


def test_every_guarantee_names_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "shown by" not in line]
    assert len(rows) > 15
    assert [row for row in rows if "::test_" not in row] == []
