"""The manual pages in man/, which the wheel installs into share/man/man1, from click.

`python -m tools.reference` writes them. modelway.1 lists the commands; each has a page, and a group
of commands has all of its in one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import click

from engine import cli
from engine.cli.command_group import CommandGroup


def man_pages() -> Mapping[str, str]:
    """The text of each page by its file name."""
    root = click.Context(cli.main, info_name="modelway", **cli.main.context_settings)
    pages = {"modelway.1": _page("modelway", "run a gateway for AI models", root)}
    for name, file in cli.main.files.items():
        child = cli.main.get_command(root, name)
        assert child is not None
        context = click.Context(child, info_name=name, parent=root)
        pages[f"modelway-{name}.1"] = _page(f"modelway-{name}", _lower(file.summary), context)
    return pages


def _page(name: str, summary: str, context: click.Context) -> str:
    lines = [
        f'.TH {name.upper()} 1 "" "Modelway" "Modelway Manual"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(summary)}",
        ".SH SYNOPSIS",
        *_synopsis(context),
        ".SH DESCRIPTION",
        *_text(context.command.help or ""),
        *_options(".SH OPTIONS", context),
    ]
    if isinstance(context.command, CommandGroup):
        lines.append(".SH COMMANDS")
        is_root = context.parent is None
        lines += _command_list(context.command) if is_root else _subcommands(context)
    return "\n".join(lines) + "\n"


def _synopsis(context: click.Context) -> Iterator[str]:
    pieces = " ".join(context.command.collect_usage_pieces(context))
    yield f"\\fB{_escaped(context.command_path)}\\fR {_escaped(pieces)}"


def _command_list(group: CommandGroup) -> Iterator[str]:
    for name, file in group.files.items():
        yield f".TP\n\\fBmodelway\\-{name}\\fR(1)\n{_escaped(file.summary)}."


def _subcommands(context: click.Context) -> Iterator[str]:
    group = context.command
    assert isinstance(group, CommandGroup)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        child = click.Context(command, info_name=name, parent=context)
        yield f".SS {_escaped(child.command_path)}"
        yield from _synopsis(child)
        yield ".PP"
        yield from _text(command.help or "")
        yield from _options(".PP", child)


def _text(help_text: str) -> Iterator[str]:
    """The paragraphs of a help text; what click prints line by line stays so."""
    for number, paragraph in enumerate(inspect.cleandoc(help_text).split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            lines = paragraph.removeprefix("\b").strip("\n").splitlines()
            yield from (".nf", *map(_line, lines), ".fi")
        else:
            yield _line(" ".join(paragraph.split()))


def _options(heading: str, context: click.Context) -> Iterator[str]:
    records = [p.get_help_record(context) for p in context.command.get_params(context)]
    rows = [record for record in records if record and record[1]]
    if rows:
        yield heading
    for names, meaning in rows:
        yield f".TP\n\\fB{_escaped(names)}\\fR\n{_line(meaning)}"


def _line(text: str) -> str:
    """A line of text, which is no request of roff."""
    escaped = _escaped(text)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _escaped(text: str) -> str:
    return re.sub(r"[\\-]", lambda match: "\\e" if match[0] == "\\" else "\\-", text)


def _lower(summary: str) -> str:
    return summary[:1].lower() + summary[1:]
