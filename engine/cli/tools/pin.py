"""`modelway tools pin`: write the tools of other MCP servers to files that people review."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.config_file import config_option, errors_exit, read_config
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.mcp.suspicions import descriptions, suspicions
from engine.offline.remote_tools import fetch, unpinned
from engine.plan.tool_pins import Definition, InvalidPins, digest_of, pins_text, read_pins
from engine.source.files import is_file
from engine.source.problem import Findings
from engine.source.suggestion import did_you_mean
from engine.values.units import format_count, format_names


@click.command()
@config_option
@click.argument("names", metavar="[UPSTREAM]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
def command(config: ConfigFiles, names: tuple[str, ...], check: bool) -> None:
    """Ask each UPSTREAM, or all with `pins`, for its tools, and write them to that file.

    A gateway lists only tools that are in the file as their server lists them: a new one, or one
    with another name, description or schema, is held back until it is pinned. Review the difference
    as code, since models do what it says.

    \b
    Exit status: 0 written, 1 a server did not answer or a file would change, 2 wrong usage.
    """
    findings = Findings()
    read = read_config(config, "nothing is pinned", findings)
    if read is None or findings.errors:
        errors_exit(findings.errors, findings.texts, "nothing is pinned")
    upstreams = unpinned(read, _names(read, names))
    listings = fetch(read, upstreams)
    is_clean = True
    for upstream in upstreams:
        answer, name = listings[upstream.name], upstream.name
        if answer.problem:
            click.echo(f"{name}: not pinned: {answer.problem}", err=True)
            is_clean = False
            continue
        for tool in answer.listing.held_tools:
            click.echo(f"{name}: {tool.name!r} is left out: {tool.reason}", err=True)
        file = Path(read.upstreams[name].pins)
        text = pins_text(name, answer.listing.tools)
        changes = _changes(file, answer.listing.tools)
        click.echo(f"{name}: {format_count(len(answer.listing.tools), 'tool')} in {file.name}; "
                   f"{changes or 'no changes'}")  # fmt: skip
        _warn(name, answer.listing.tools)
        if check:
            is_clean = is_clean and not changes
        else:
            file.write_text(text, encoding="utf-8")
    if not is_clean:
        raise SystemExit(1)


def _names(config: Config, names: tuple[str, ...]) -> list[str]:
    """The upstreams to ask. Raises UsageError for one that has no file of pins."""
    pinned = [u.name for u in config.upstreams.values() if u.mcp and u.pins]
    for name in names:
        if name not in pinned:
            hint = did_you_mean(name, pinned) or "write `pins: FILE` for it under upstreams"
            raise click.UsageError(f"'{name}' is no MCP server with `pins`; {hint}")
    if not pinned:
        text = "no upstream has `pins`; write `pins: FILE` for an MCP server under upstreams"
        raise click.UsageError(text)
    return [*names] or pinned


def _changes(file: Path, tools: Sequence[Definition]) -> str:
    """What the file has otherwise, as text; "" for nothing."""
    try:
        before = read_pins(file.read_bytes()) if is_file(file) else {}
    except InvalidPins as error:
        return f"the file has no pins: {error}"
    after = {str(tool["name"]): tool for tool in tools}
    both = [name for name in after if name in before]
    groups = {
        "new": [name for name in after if name not in before],
        "changed": [name for name in both if digest_of(before[name]) != digest_of(after[name])],
        "gone": [name for name in before if name not in after],
    }
    return "; ".join(f"{word}: {format_names(group, 8)}" for word, group in groups.items() if group)


def _warn(upstream: str, tools: Sequence[Definition]) -> None:
    """Warn of texts that tell models what to do."""
    for tool in tools:
        for text in descriptions(tool):
            for kind, part in suspicions(text):
                click.echo(f"{upstream}: {tool['name']!r} has an {kind}: {part!r}", err=True)
