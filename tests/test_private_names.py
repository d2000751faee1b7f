"""Tests use what they test by its public names."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.each import each
from tests.support.paths import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))
PUBLIC = {"_asdict", "_exit", "_fields", "_replace", "_request_id"}
"""Names of NamedTuple, `os` and the vendors' SDKs that are documented for everybody."""

_PRIVATE = re.compile(r"_(?!_)\w+")
_MAY_USE_ONE = re.compile(
    r"(?<!\bself)(?<!\bcls)\._[a-z]|setattr|^\s*from .*\b_[a-z]|^    _\w+( as \w+)?,$",
    re.MULTILINE | re.IGNORECASE,
)
"""Sources without a match need not be parsed."""


def private_names(source: str) -> Iterator[str]:
    """The private names of other objects and modules that a test uses, imports or replaces."""
    if not _MAY_USE_ONE.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            names = [] if is_own else [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setattr"):
            texts = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant)]
            names = [name for text in texts for name in str(text).split(".")]
        else:
            continue
        yield from (name for name in names if _PRIVATE.fullmatch(name) and name not in PUBLIC)


@each("file", FILES)
def test_no_test_uses_a_private_name(file):
    assert list(private_names(file.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("cache._entries.clear()", ["_entries"]),
        ("from engine.room._part import thing", ["_part"]),
        ("from engine.room import _thing", ["_thing"]),
        ("from engine.room import (\n    _a,\n    _b as b,\n)", ["_a", "_b"]),
        ("monkeypatch.setattr(module, '_LIMIT', 1)", ["_LIMIT"]),
        ("monkeypatch.setattr('engine.room._LIMIT', 1)", ["_LIMIT"]),
        ("self._clock = clock", []),
        ("module.__name__", []),
        ("entry._replace(cost=1)", []),
        ("setattr(module, 'LIMIT', 1)", []),
    ],
)
def test_a_private_name_begins_with_one_underscore(source, names):
    assert list(private_names(source)) == names
