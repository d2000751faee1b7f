"""`modelway token` and its subcommands."""

import re

import pytest

from tests.support.commands import modelway


@pytest.mark.parametrize(
    "command", ["new", "create", "list", "show", "rotate", "revoke", "import", "export"]
)
def test_every_token_command_has_a_help_text(command):
    result = modelway("token", command, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 6
    assert re.search(rf"^  {command} +[A-Z]", modelway("token", "--help").output, re.MULTILINE)
