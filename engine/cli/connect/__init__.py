"""`modelway connect`: set up a coding agent or an SDK for a gateway.

`shells` are the shells' ways of setting variables, `checks` asks the gateway, `merge` adds settings
to files, `changes` writes and undoes them. What each agent needs is in `engine/agents`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from engine.cli.connect.changes import (
    CannotUndo,
    ChangeRecord,
    Edit,
    read,
    state_folder,
    with_block,
)
from engine.cli.connect.checks import (
    CannotConnect,
    GatewayChecks,
    check_address,
    choose_model,
)
from engine.cli.connect.merge import CannotMerge, merge
from engine.cli.connect.shells import SHELLS, Shell
from engine.cli.init import unwritable
from engine.config import agents
from engine.config.agents import Agent
from engine.source.suggestion import did_you_mean

TOKEN = "MODELWAY_TOKEN"  # noqa: S105 - the name of a variable
_API = re.compile(r"/(v1|v1beta)/*$")


@click.command()
@click.argument("name", metavar="AGENT", required=False)
@click.option(
    "--url", metavar="URL", envvar="MODELWAY_URL", default="http://127.0.0.1:8080",
    show_default=True, help="The address of the gateway.",
)  # fmt: skip
@click.option("--model", metavar="NAME", default="", help="The model.  [default: the first listed]")
@click.option(
    "--shell", "shell_name", type=click.Choice(list(SHELLS)),
    help="The shell that starts the agent.  [default: from SHELL]",
)  # fmt: skip
@click.option("--write", is_flag=True, help="Write the settings, after showing the difference.")
@click.option("--undo", is_flag=True, help="Take back what --write has written.")
@click.option("--yes", is_flag=True, help="Do not ask before writing.")
@click.option("--offline", is_flag=True, help="Do not ask the gateway; needs --model.")
def command(
    name: str | None, url: str, model: str, shell_name: str | None, offline: bool, **options: bool
) -> None:
    """Print what AGENT needs to use the gateway; without AGENT, list all.

    The gateway is asked whether it answers, knows the token in MODELWAY_TOKEN, serves the model,
    and has a route for the requests of the agent. No request is sent to a model.

    The token is never written: the settings name the variable MODELWAY_TOKEN. --undo leaves each
    file as it was, byte for byte.

    \b
    What to set:    modelway connect codex --url https://models.example.com --model gpt-5.5
    Set it:         modelway connect codex --url https://models.example.com --write
    Take it back:   modelway connect codex --undo
    """
    if name is None:
        _list()
        return
    agent = _agent(name)
    record = ChangeRecord(state_folder(_home(), os.environ), agent.name)
    if options["undo"]:
        _undo(agent, record)
        return
    shell = SHELLS[shell_name or _own_shell()]
    try:
        agent = _checked(agent, _API.sub("", url.rstrip("/")), model, offline)
    except (CannotConnect, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if options["write"]:
        _write(agent, shell, record, options["yes"])
    else:
        _print(agent, shell)
    for note in agent.notes:
        click.echo(f"note: {note}", err=True)


def _list() -> None:
    width = max(map(len, agents.names()))
    for name in agents.names():
        click.echo(f"{name.ljust(width)}  {agents.read(name).title}")


def _agent(name: str) -> Agent:
    if name not in agents.names():
        hint = did_you_mean(name, agents.names(), "`modelway connect` lists them")
        raise click.BadParameter(f"unknown agent '{name}'; {hint}", param_hint="AGENT")
    return agents.read(name)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise click.ClickException("HOME is not set: the files of a user are there") from error


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in SHELLS else "bash"


def _checked(agent: Agent, address: str, model: str, offline: bool) -> Agent:
    """The agent's settings for a gateway that can serve it, with the checks on stderr. Raises
    CannotConnect and ValueError."""
    check_address(address)
    if offline:
        if agent.names_model and not model:
            raise click.UsageError("--offline needs --model NAME: the gateway is not asked")
        return agent.at(address, model)
    token = os.environ.get(TOKEN, "")
    if not token:
        raise click.ClickException(
            f"{TOKEN} is not set: export {TOKEN}=... with a token of the gateway, or use --offline"
        )
    gateway = GatewayChecks(address, token)
    names = gateway.models()
    click.echo(f"ok  {address} answers and knows the token", err=True)
    model = choose_model(names, model)
    agent = agent.at(address, model)
    click.echo(f"ok  it serves {model}", err=True)
    gateway.check_path(agent)
    click.echo(f"ok  it has a route for {agent.path}\n", err=True)
    return agent


def _print(agent: Agent, shell: Shell) -> None:
    for file in agent.files:
        click.echo(f"# {file.path}\n{file.text}")
    click.echo(shell.lines(agent.variables) + agent.start)


def _write(agent: Agent, shell: Shell, record: ChangeRecord, yes: bool) -> None:
    if record.exists():
        raise click.ClickException(
            f"{agent.title} is connected already: `modelway connect {agent.name} --undo` first"
        )
    try:
        edits = list(_edits(agent, shell))
        if not edits:
            raise click.ClickException(
                f"{agent.title} has no file of settings: run these commands\n{agent.start}"
            )
        for edit in edits:
            click.echo(edit.difference())
        if not yes:
            click.confirm(f"Write {', '.join(str(edit.path) for edit in edits)}?", abort=True)
        record.apply(edits)
    except OSError as error:
        raise unwritable(error, record.path) from error
    click.echo(f"Written. `modelway connect {agent.name} --undo` takes it back.")
    if agent.start:
        opened = "In a new shell" if agent.variables else "Then"
        click.echo(f"{opened}, with {TOKEN} exported:\n{agent.start}")


def _edits(agent: Agent, shell: Shell) -> Iterator[Edit]:
    for file in agent.files:
        path = Path(file.path).expanduser()
        before = read(path)
        try:
            after = merge(path.name, (before or b"").decode("utf-8"), file.text)
        except (CannotMerge, UnicodeDecodeError) as error:
            raise click.ClickException(
                f"{path}: {error}; nothing was written. Set this there by hand:\n{file.text}"
            ) from error
        yield Edit(path, before, after.encode())
    if agent.variables:
        path = shell.profile(Path.home(), os.environ)
        block = (
            f"# modelway connect {agent.name}\n{shell.lines(agent.variables)}"
            f"# end of modelway connect {agent.name}\n"
        )
        yield with_block(path, read(path), block)


def _undo(agent: Agent, record: ChangeRecord) -> None:
    if not record.exists():
        raise click.ClickException(f"nothing was written for {agent.title} by this user")
    try:
        for edit in record.edits():
            click.echo(edit.difference())
        record.undo()
    except CannotUndo as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise unwritable(error, record.path) from error
    click.echo(f"{agent.title} is as it was before.")
