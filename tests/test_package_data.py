"""What the engine reads beside its modules is in the wheel, too; a checkout has it anyway."""

import tomllib

from tests.support.paths import ROOT

ENGINE = ROOT / "engine"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PATTERNS = PROJECT["tool"]["setuptools"]["package-data"]["engine"]


def test_every_file_beside_the_modules_is_package_data():
    packaged = {file for pattern in PATTERNS for file in ENGINE.glob(pattern) if file.is_file()}
    beside = {file for file in ENGINE.rglob("*") if file.suffix not in {"", ".py", ".pyc"}}
    assert sorted(beside - packaged) == []


def test_every_pattern_of_package_data_has_a_file():
    assert [pattern for pattern in PATTERNS if not any(ENGINE.glob(pattern))] == []
