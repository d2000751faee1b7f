"""`modelway tools`: list the tools of MCP servers, or show one as agents get it."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.cli.output_format import format_option
from engine.cli.terminal import is_terminal
from engine.cli.text_table import Table, print_table
from engine.config.config_files import ConfigFiles
from engine.config.mcp import McpServer
from engine.offline.tool_calls import find_tool
from engine.plan.route import Plan
from engine.source.suggestion import did_you_mean
from engine.tools.texts import plain_text
from engine.tools.tool import Tool, tools_of
from engine.values.units import format_count

_HEADINGS = ("TOOL", "OPERATION", "TOKENS", "EFFECT", "DESCRIPTION")
_MAX_DESCRIPTION = 60
Document = dict[str, Any]


@click.command()
@config_option
@click.argument("name", required=False)
@click.option("--server", default="", help="Only the tools of this server.")
@format_option()
def command(config: ConfigFiles, name: str | None, server: str, output_format: str) -> None:
    """List the tools of each MCP server with about how many tokens each takes of a model's context,
    or show the tool NAME as agents get it.

    EFFECT says what a call does, as clients are told. NAME is a tool or SERVER/TOOL. With --format
    json all is printed as agents get it.

    \b
    Exit status: 0 listed, 1 the config has errors, 2 wrong usage.
    """
    plan = plan_or_exit(config, "nothing is listed")
    if name:
        try:
            tool = find_tool(plan, name)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        click.echo(json.dumps(_document(tool), indent=2, ensure_ascii=False))
        return
    servers = _servers(plan, server)
    tools = {each.name: tools_of(plan, each) for each in servers}
    if output_format == "json":
        documents = {name: [_document(tool) for tool in each] for name, each in tools.items()}
        click.echo(json.dumps({"servers": documents}, indent=2, ensure_ascii=False))
        return
    for number, each in enumerate(servers):
        _print(each, tools[each.name], is_first=number == 0)


def _servers(plan: Plan, name: str) -> list[McpServer]:
    servers = plan.config.mcp
    if not servers:
        raise click.UsageError("the config has no MCP servers; write them under mcp:")
    if name and name not in servers:
        raise click.UsageError(f"unknown server '{name}'; {did_you_mean(name, servers)}")
    return [servers[name]] if name else [*servers.values()]


def _document(tool: Tool) -> Document:
    return {**tool.listed(), "operation": tool.operation, "tokens": tool.tokens}


def _print(server: McpServer, tools: tuple[Tool, ...], *, is_first: bool) -> None:
    """The table of a server, and the size of its list."""
    if not is_first:
        click.echo()
    total = sum(tool.tokens for tool in tools)
    click.echo(f"{server.name} at {server.path}: {format_count(len(tools), 'tool')}, about "
               f"{total:,} tokens")  # fmt: skip
    if len(tools) > server.search_above:
        click.echo(
            f"more than search_above ({server.search_above}), so agents get search_tools and "
            "call_tool in place of the list"
        )
    brief = is_terminal(sys.stdout)
    rows = [
        (
            tool.name,
            tool.operation,
            f"{tool.tokens:,}",
            _effect(tool),
            plain_text(tool.description, _MAX_DESCRIPTION) if brief else tool.description,
        )
        for tool in tools
    ]
    print_table(Table(_HEADINGS, rows, frozenset({"TOKENS"})))


def _effect(tool: Tool) -> str:
    """What a call does, as clients are told."""
    if tool.annotations["readOnlyHint"]:
        return "reads"
    return "replaces or deletes" if tool.annotations.get("destructiveHint") else "writes"
