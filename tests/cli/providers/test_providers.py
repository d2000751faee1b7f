"""`modelway providers`: `show` is what it does without a command."""

import pytest

from tests.support.commands import modelway


@pytest.mark.parametrize("arguments", [(), ("groq",), ("--format", "json"), ("groq", "--json")])
def test_without_a_command_it_shows(arguments):
    short, long = modelway("providers", *arguments), modelway("providers", "show", *arguments)
    assert (short.exit_code, short.output) == (0, long.output)


def test_its_help_has_its_commands():
    output = modelway("providers", "--help").output
    assert "show" in output
    assert "update" in output
