"""Commands are found by their files, listed without being imported, and suggested when misspelt."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import click
import pytest

from engine import cli
from engine.cli import command_group
from engine.cli.command_group import CommandGroup
from tests.support.commands import modelway
from tests.support.each import each
from tests.support.paths import ROOT

HEAVY = {
    *("sqlalchemy", "falcon", "gevent", "gunicorn", "openapi_core", "werkzeug", "jsonschema_rs"),
    *("jsonschema", "yaml", "redis", "prometheus_client", "websockets", "rich.console"),
    *("alembic", "psycopg", "lmdb", "cachetools", "httptools"),
}
"""Modules that are slow to import, which a command that does not use them leaves alone."""
HEAVY_FOR_CHECK = {
    *("sqlalchemy", "openapi_core", "werkzeug", "rich.console", "alembic", "psycopg", "lmdb"),
    *(
        "redis",
        "prometheus_client",
        "websockets",
        "gunicorn",
        "engine.app",
    ),
}


def modules(package: ModuleType) -> Iterator[str]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield info.name


def groups() -> Iterator[tuple[str, CommandGroup]]:
    """Every group of commands with its command line."""
    yield "", cli.main
    for name in cli.main.files:
        command = cli.main.get_command(click.Context(cli.main), name)
        if isinstance(command, CommandGroup):
            yield name, command


def imported_by(*words: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    program = (
        "import atexit, sys; sys.argv[0] = 'modelway'\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from engine.cli import main; main()"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("CI", "MODELWAY_CONFIG")}
    keys = {f"{vendor}_API_KEY": "example" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}
    result = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        env=environment | keys,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stderr.splitlines()[-1].split())


def test_a_module_is_listed_as_a_command_exactly_if_it_defines_one():
    listed = {file.module for _, group in groups() for file in group.files.values()}
    defined = {
        name
        for name in modules(cli)
        if isinstance(getattr(importlib.import_module(name), "command", None), click.Command)
    }
    assert listed == defined


@each(
    "words",
    [["--help"], ["version"], ["token", "new", "x"], ["token", "--help"], ["completion", "zsh"]],
)
def test_a_small_command_imports_no_library_that_it_does_not_use(words):
    assert imported_by(*words) & HEAVY == set()


def test_check_imports_neither_stores_nor_the_second_opinion():
    assert imported_by("check") & HEAVY_FOR_CHECK == set()


def test_a_list_of_commands_imports_none_of_them():
    assert {name for name in imported_by("--help") if name.startswith("engine.cli.")} == {
        "engine.cli.command_group"
    }


@pytest.mark.parametrize(("name", "group"), list(groups()))
def test_every_summary_is_a_line_that_is_not_cut(name, group):
    words = [name] if name else []
    lines = modelway(*words, "--help", env={"COLUMNS": "80"}).output.split("Commands:\n")[1]
    assert len(lines.splitlines()) == len(group.files)
    assert "..." not in lines
    for command, file in group.files.items():
        assert f"  {command} " in lines
        assert file.summary in lines


@each(
    ("words", "hint"),
    [
        (["chek"], "there is no command 'chek'; did you mean 'check'?"),
        (["token", "creat"], "there is no command 'creat'; did you mean 'create'?"),
        (["zzz"], "there is no command 'zzz'; `modelway --help` lists them"),
        (["token", "zzz"], "there is no command 'zzz'; `modelway token --help` lists them"),
        (["check", "--strickt"], "there is no option '--strickt'; did you mean '--strict'?"),
        (["token", "new", "--modles"], "no option '--modles'; did you mean '--models'?"),
        (["--verison"], "there is no option '--verison'; did you mean '--version'?"),
        (["check", "--zzz"], "no option '--zzz'; `modelway check --help` lists them"),
        (["--jason"], "there is no option '--jason'; `modelway --help` lists them"),
        (["check", "--no-second-opinon"], "did you mean '--no-second-opinion'?"),
        (["check", "-Z"], "there is no option '-Z'; `modelway check --help` lists them"),
    ],
)
def test_a_misspelt_command_or_option_has_a_suggestion(words, hint):
    result = modelway(*words, prog_name="modelway")
    assert (result.exit_code, result.stdout) == (2, "")
    assert hint in result.stderr


def test_a_file_whose_docstring_names_no_command_is_none(tmp_path, monkeypatch):
    package = tmp_path / "shells"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "list_.py").write_text('"""`modelway shells list`: list them all."""\n')
    (package / "helper.py").write_text('"""Helps `modelway shells list`: not a command."""\n')
    (package / "other.py").write_text('"""`modelway shells list`: another name."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    group = CommandGroup(package="shells")
    assert group.files == {"list": command_group.CommandFile("shells.list_", "List them all")}
