"""Every command that prints data has `--format`, and `--json` as its short form."""

import io
import json

import click
import pytest

from engine import cli
from engine.cli.command_group import CommandGroup
from engine.cli.output import complete_file, has_colour, is_terminal
from tests.support.commands import assert_refused, modelway
from tests.support.each import each

NO_DATA = {
    "completion": "prints a script",
    "connect": "prints the settings of an agent",
    "demo": "serves",
    "import": "writes a config, or a project",
    "init": "writes a project",
    "mock": "serves",
    "serve": "serves",
    "token export": "prints JSON lines, for `token import`",
    "token import": "prints nothing",
    "token revoke": "prints nothing",
    "tools pin": "writes files of pins",
}
"""Commands without `--format`, and why."""


def commands(group=cli.main, path=""):
    for name in group.files:
        command = group.get_command(click.Context(group), name)
        if isinstance(command, CommandGroup):
            yield from commands(command, f"{name} ")
        else:
            yield f"{path}{name}", command


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_a_command_has_both_options_or_prints_no_data(name, command):
    options = {option for parameter in command.params for option in parameter.opts}
    both = {"--format", "--json"}
    assert options & both == (set() if name in NO_DATA else both)


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_text_is_the_first_format_and_json_is_one(name, command):
    for parameter in command.params:
        if parameter.name == "output_format":
            assert "json" in parameter.type.choices
            assert parameter.type.choices[0] == ("json" if name == "schema" else "text")


@each("words", [["check"], ["routes"], ["config"], ["version"], ["providers", "groq"], ["schema"]])
def test_json_is_short_for_the_format_json(folder, words):
    short = modelway(*words, "--json")
    assert (short.exit_code, short.stdout) == (0, modelway(*words, "--format", "json").stdout)
    json.loads(short.stdout)


def test_two_formats_at_once_are_refused(folder):
    assert_refused(modelway("routes", "--json", "--format", "text"), "leave out one", status=2)
    assert modelway("routes", "--json", "--format", "json").exit_code == 0


def test_a_file_replaces_another_at_the_end(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with complete_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_nothing_behind(tmp_path):
    def write():
        with complete_file(tmp_path / "x") as file:
            file.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert [*tmp_path.iterdir()] == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_file_is_no_terminal_and_has_no_colour():
    assert not is_terminal(None)
    assert not has_colour(io.StringIO())


def test_a_terminal_has_colour_unless_it_is_switched_off(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colour(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())
