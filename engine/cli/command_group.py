"""A group of commands: each is a file of its package, imported only when it runs."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from engine.process.gc_pause import no_collection
from engine.source.suggestion import did_you_mean, near
from engine.values.discovery import constant_of, modules_in

_HEAD = re.compile(r'"""`(?P<path>modelway [a-z -]+)`: (?P<summary>[^\n]+?)\.(?:\s|""")')
"""How the docstring of a command's file begins: the command line, and a summary of one line."""


class CommandFile(NamedTuple):
    """A file that defines `command`: its module, and the summary in lists of commands."""

    module: str
    summary: str


class CommandGroup(click.Group):
    """The commands of a package, found by its files.

    A file is a command if its docstring begins with the command line, so the names and summaries of
    all commands are known without importing them. `_` at the end of a file's name, for names that
    Python reserves, is not part of the command's.
    """

    def __init__(self, *arguments: Any, package: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._package = package

    @cached_property
    def files(self) -> Mapping[str, CommandFile]:
        """The files of the commands by name, in alphabetical order."""
        return dict(sorted(_command_files(self._package)))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.files)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        file = self.files.get(cmd_name)
        if file is None:
            return None
        with no_collection(keep=True):
            command = constant_of(file.module, "command", click.Command)
        assert isinstance(command, click.Command)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, file.summary) for name, file in self.files.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin with `incomplete`, without importing them, and the options."""
        commands = [
            CompletionItem(name, help=file.summary)
            for name, file in self.files.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.files or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        hint = did_you_mean(name, self.files, f"`{ctx.command_path} --help` lists them")
        raise click.UsageError(f"there is no command '{name}'; {hint}", ctx)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        with _near_options():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _near_options():
            return super().invoke(ctx)


def _command_files(package: str) -> Iterator[tuple[str, CommandFile]]:
    path = importlib.import_module(package).__path__
    for info in modules_in(path):
        module = f"{package}.{info.name}"
        head = _HEAD.match(_source(info, module))
        name = info.name.rstrip("_")
        if head is not None and head["path"].rpartition(" ")[2] == name:
            summary = head["summary"]
            yield name, CommandFile(module, summary[:1].upper() + summary[1:])


def _source(info: pkgutil.ModuleInfo, module: str) -> str:
    """The text of a module, which is not imported."""
    spec = info.module_finder.find_spec(module, None)
    assert spec is not None
    source = getattr(spec.loader, "get_source")(module)  # noqa: B009 - of every loader of files
    assert isinstance(source, str)
    return source


@contextmanager
def _near_options() -> Iterator[None]:
    """Suggest the closest option where one is unknown, by the rule of all suggestions."""
    try:
        yield
    except click.NoSuchOption as error:
        raise _unknown_option(error) from error


def _unknown_option(error: click.NoSuchOption) -> click.UsageError:
    context = error.ctx
    assert context is not None
    parameters = context.command.get_params(context)
    options = [name for p in parameters for name in (*p.opts, *p.secondary_opts)]
    names = [name.removeprefix("--") for name in options if name.startswith("--")]
    closest = near(error.option_name.lstrip("-"), names)
    known = f"`{context.command_path} --help` lists them"
    hint = known if closest is None else f"did you mean '--{closest}'?"
    return click.UsageError(f"there is no option '{error.option_name}'; {hint}", context)
