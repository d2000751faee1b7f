"""`modelway diff`: what it takes, and how it exits."""

import json
import os
import threading

import pytest
from click.testing import CliRunner

from engine import cli
from tests.support.rehearsing import CONFIG, ENVIRON, write

WEAKER = CONFIG.replace("requests: 60, per: 1m", "requests: 90, per: 1m")
STRONGER_DOCUMENT = CONFIG.replace("auth: none", "validate: strict")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    write(tmp_path / "old")
    write(tmp_path / "new", WEAKER)
    return tmp_path


def run(*args, **more):
    return CliRunner().invoke(cli.main, ["diff", *map(str, args)], **more)


def test_no_difference_exits_with_0():
    result = run("old", "old/gateway.yaml")
    assert (result.exit_code, result.output) == (0, "no difference\n")


def test_weaker_exits_with_3():
    result = run("old", "new")
    assert result.exit_code == 3
    assert "new/gateway.yaml" in result.output
    assert "weaker: shop.chat, shop.say, shop.show: rate_limit is 90 requests" in result.output


def test_configs_that_do_not_exist_are_all_named():
    result = run("gone", "away/gateway.yaml")
    assert result.exit_code == 1
    message = "no such file: gone and away/gateway.yaml; nothing is compared"
    assert message in result.stderr
    assert "-c" not in result.stderr
    os.mkdir("empty")
    assert f"no such file: {os.path.join('empty', 'gateway.yaml')};" in run("old", "empty").stderr


def test_stronger_exits_with_0():
    assert run("new", "old").exit_code == 0


def test_breaking_exits_with_3_if_strict(folder):
    write(folder / "new", STRONGER_DOCUMENT)
    assert run("old", "new").exit_code == 0
    assert run("old", "new", "--strict").exit_code == 3


@pytest.mark.parametrize("side", ["old", "new"])
def test_errors_in_a_config_exit_with_1(folder, side):
    write(folder / side, CONFIG.replace("upstream: main", "upstream: mian"))
    result = run("old", "new")
    assert result.exit_code == 1
    assert f"{side}/gateway.yaml" in result.stderr
    assert "nothing is compared" in result.stderr
    assert result.stdout == ""  # the comment of a pull request, or a program, gets no text


def test_the_old_config_may_come_from_standard_input():
    result = run("-", "new", input=CONFIG)
    assert (result.exit_code, "was 60 requests per 1m" in result.output) == (3, True)


def test_the_old_config_may_come_from_a_pipe(folder):
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_text(CONFIG))
    writer.start()
    result = run("pipe", "new")
    writer.join(10)
    assert result.exit_code == 3


@pytest.mark.parametrize("args", [[], ["old"], ["old", "-"], ["old", "new", "--format", "xml"]])
def test_wrong_usage_exits_with_2(args):
    assert run(*args).exit_code == 2


def test_a_missing_file_is_a_problem():
    assert run("old", "nowhere.yaml").exit_code == 1


def test_json_is_one_document():
    output = json.loads(run("old", "new", "--format", "json").output)
    assert output["counts"]["weaker"] == 1


def test_github_gets_annotations():
    output = run("old", "new", "--format", "github").output
    assert output.startswith("::error file=new/gateway.yaml,")
