#!/usr/bin/env bash
# click 8.5.1: a command keeps the names of its help option from the first context that it ran in.
#
# `help_option_names` is a setting of the context (click documentation, "Help Pages"), so a command that ran once
# without it should answer `-h` when the next context has the setting. It does not: the option is made once and
# cached on the command. A program that reads its commands' parameters for a manual, and then runs them, gets
# "No such option '-h'", depending on the order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet click==8.5.1
"$folder/venv/bin/python" - <<'PYTHON'
import click
from click.testing import CliRunner

SETTING = {"help_option_names": ["-h", "--help"]}


def command() -> click.Command:
    return click.Command("greet", callback=lambda: None)


fresh, used = command(), command()
CliRunner().invoke(used, [])
first = CliRunner().invoke(fresh, ["-h"], **SETTING)
second = CliRunner().invoke(used, ["-h"], **SETTING)
print("-h, first run of the command:", first.exit_code)
print("-h, after a run without the setting:", second.exit_code, second.output.splitlines()[-1])
assert first.exit_code == 0
assert second.exit_code == 2 and "No such option" in second.output
PYTHON
