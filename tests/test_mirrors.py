"""Tests mirror the tree: `engine/room/module.py` is tested in `tests/room/test_module.py`."""

import ast
from fnmatch import fnmatch
from pathlib import Path, PurePath

import pytest

from tests.support.each import each
from tests.support.paths import ROOT

ENGINE, TESTS = ROOT / "engine", ROOT / "tests"
MODULES = [path.relative_to(ENGINE) for path in sorted(ENGINE.rglob("*.py"))]

EXCEPTIONS = {
    "__main__.py": "tests/e2e/test_commands.py starts the program",
    "wsgi.py": "tests/e2e/test_commands.py and test_shutdown.py start it under gunicorn",
    "offline/imports/sources/*.py": "tests/offline/imports/sources/test_sources.py has them",
    "offline/check/rules/*.py": "tests/offline/check/test_audit.py requires a case of each",
    "offline/diff/kinds/*.py": "tests/offline/diff/test_difference.py requires a case of each kind "
    "in tests/cases/diff",
    "stores/database/migrations/*.py": "tests/stores/database/test_migrate.py runs every step",
    "translations/*/request_shapes.py": "tests/translations/test_features.py tests their functions",
    "translations/embeddings/languages/*.py": "tests/translations/embeddings/test_crossings.py "
    "requires a case of each",
}
"""Modules without a test of their name, and where their behaviour is tested."""


def has_behaviour(source: str) -> bool:
    """Whether a module defines a function that does something: not only types and values."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return any(not isinstance(line, ast.Expr) for node in functions for line in node.body)


def mirrors(module: PurePath) -> list[PurePath]:
    """Where the tests of a module may be; those of a package stand in its folder or beside it."""
    folder, name = module.parent, module.stem
    if name != "__init__":
        return [folder / f"test_{name}.py"]
    return [folder / f"test_{folder.name}.py", folder.parent / f"test_{folder.name}.py"]


def is_mirrored(module: PurePath, tests: Path = TESTS) -> bool:
    return any((tests / mirror).is_file() for mirror in mirrors(module))


def exceptions_of(module: PurePath) -> list[str]:
    """The patterns of EXCEPTIONS that a module matches."""
    return [pattern for pattern in EXCEPTIONS if fnmatch(str(module), pattern)]


@each("module", MODULES)
def test_every_module_with_behaviour_has_a_test_of_its_name(module):
    if has_behaviour((ENGINE / module).read_text("utf-8")) and not exceptions_of(module):
        assert is_mirrored(module), f"write tests/{mirrors(module)[0]}"


@pytest.mark.parametrize("pattern", EXCEPTIONS)
def test_every_exception_is_needed(pattern):
    assert any(pattern in exceptions_of(module) and not is_mirrored(module) for module in MODULES)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    return 1", True),
        ("class A:\n    def f(self):\n        return 1", True),
        ("class A(Protocol):\n    def f(self) -> int:\n        'What it does.'", False),
        ("class A(Protocol):\n    def f(self) -> int: ...", False),
        ("class A(Struct):\n    a: int = 0", False),
        ("A = B(c=1)", False),
    ],
)
def test_types_and_values_are_no_behaviour(source, expected):
    assert has_behaviour(source) is expected


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("room/part.py", "room/test_part.py"),
        ("room/__init__.py", "room/test_room.py"),
        ("wing/room/__init__.py", "wing/test_room.py"),
    ],
)
def test_the_mirror_of_a_module_has_its_name(tmp_path, module, test):
    assert not is_mirrored(PurePath(module), tmp_path)
    (tmp_path / test).parent.mkdir(parents=True)
    (tmp_path / test).touch()
    assert is_mirrored(PurePath(module), tmp_path)
