"""The commands, in this process: what they print and how they exit. (Serving is tested in e2e.)"""

import re

import pytest

from engine import cli
from tests.support.commands import modelway


def commands():
    return cli.main.list_commands(None)


def test_every_command_has_its_file_and_its_name():
    assert commands() == [
        *(
            "check",
            "completion",
            "config",
            "connect",
            "demo",
            "diff",
            "explain",
            "import",
            "init",
            "ledger",
            "mock",
        ),
        *(
            "providers",
            "reload",
            "routes",
            "schema",
            "serve",
            "test",
            "token",
            "tools",
            "top",
            "usage",
        ),
        "version",
    ]


@pytest.mark.parametrize("name", commands())
def test_every_command_has_a_help_text(name):
    result = modelway(name, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 6
    assert modelway(name, "-h").output == result.output


def test_the_help_names_every_command():
    result = modelway("--help")
    for name in commands():
        assert re.search(rf"^  {name}  +[A-Z]", result.output, re.MULTILINE)


def test_the_version_is_printed():
    assert re.fullmatch(r"modelway, version \d+\.\d+\.\d+\n", modelway("--version").output)


@pytest.mark.parametrize(
    "args",
    [
        *(["nonsense"], ["check", "--nonsense"], ["check", "extra"], ["check", "-c"]),
        *(["check", "one", "two"], ["serve", "--port", "1"], ["mock", "--port", "many"]),
        *(["token"], ["token", "new"], ["init"], []),
    ],
)
def test_wrong_usage_exits_with_2(folder, args):
    result = modelway(*args)
    assert result.exit_code == 2
    assert re.search("Usage:|Error:", result.output)
