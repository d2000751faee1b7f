"""`modelway config`."""

import json

import yaml

from tests.support.commands import GOOD, modelway


def test_the_effective_config_passes_check(folder):
    (folder / "prod.yaml").write_text("server: {workers: 3}\n")
    result = modelway("config", "-c", "gateway.yaml", "-c", "prod.yaml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# The effective config of gateway.yaml + prod.yaml\n")
    assert yaml.safe_load(result.stdout)["server"] == {"workers": 3}
    (folder / "effective.yaml").write_text(result.stdout)
    assert modelway("check", "effective.yaml").exit_code == 0


def test_json_has_the_config_and_the_origins(folder):
    document = json.loads(modelway("config", "--json").stdout)
    assert document["config"]["version"] == 1
    assert document["origins"]["/version"] == "gateway.yaml:1:10"


def test_a_variable_that_is_not_set_is_no_error(folder):
    (folder / "gateway.yaml").write_text(GOOD + "currency: ${NOT_SET_HERE}\n")
    result = modelway("config")
    assert (result.exit_code, result.stderr) == (0, "")
    assert 'currency: "${NOT_SET_HERE}"  # gateway.yaml:5' in result.stdout


def test_errors_are_printed_beside_what_can_be_read(folder):
    (folder / "gateway.yaml").write_text(GOOD + "servr: {}\n")
    result = modelway("config")
    assert result.exit_code == 1
    assert "servr: {}  # gateway.yaml:5" in result.stdout
    assert "gateway.yaml:5:1: error" in result.stderr


def test_a_config_that_cannot_be_read_is_not_printed(folder):
    (folder / "gateway.yaml").write_text("a: [\n")
    result = modelway("config")
    assert result.exit_code == 1
    assert "nothing is printed" in result.stderr
