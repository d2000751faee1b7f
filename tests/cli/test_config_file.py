"""The config that commands read: its option and its environment variable, and its errors."""

import os

import pytest

from tests.support.commands import GOOD, modelway


def test_the_config_comes_from_the_option_or_the_environment(folder):
    os.rename(folder / "gateway.yaml", folder / "other.yaml")
    assert modelway("check").exit_code == 1
    assert modelway("check", "-c", "other.yaml").exit_code == 0
    assert modelway("check", env={"MODELWAY_CONFIG": "other.yaml"}).exit_code == 0


@pytest.mark.parametrize("name", ["serve", "routes", "mock"])
def test_with_errors_nothing_is_served(folder, name):
    (folder / "gateway.yaml").write_text(GOOD.replace("upstream: main", "upstream: mian"))
    result = modelway(name, "-c", "gateway.yaml")
    assert result.exit_code == 1
    assert "unknown upstream 'mian'" in result.output
