"""`modelway tools show`: list the tools of MCP servers, or show one as agents get it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.cli.output import format_option, is_terminal
from engine.cli.text_table import Table, print_table
from engine.config.config_files import ConfigFiles
from engine.config.mcp import McpServer
from engine.mcp.descriptions import plain_text
from engine.mcp.listed_tool import ListedTool, context_tokens, list_entry
from engine.mcp.remote.listing import HeldTool
from engine.offline.rehearsal.tool_calls import find_tool
from engine.offline.remote_tools import (
    ServerListing,
    all_tools,
    fetch,
    held_back,
    offline_listings,
)
from engine.plan.plan import Plan
from engine.source.suggestion import did_you_mean
from engine.values.units import format_count

_HEADINGS = ("TOOL", "OPERATION", "TOKENS", "EFFECT", "DESCRIPTION")
_MAX_DESCRIPTION = 60
Document = dict[str, Any]


@click.command()
@config_option
@click.argument("name", required=False)
@click.option("--server", default="", help="Only the tools of this server.")
@click.option("--offline", is_flag=True, help="Ask no other MCP server; show what is pinned.")
@format_option()
def command(
    config: ConfigFiles, name: str | None, server: str, offline: bool, output_format: str
) -> None:
    """List the tools of each MCP server with about how many tokens each takes of a model's context,
    or show the tool NAME as agents get it.

    Other MCP servers are asked for their tools; those that a gateway holds back, because they
    differ from their pins or are not fit, follow the table with the reason.

    EFFECT says what a call does, as clients are told. NAME is a tool or SERVER/TOOL. With --format
    json all is printed as agents get it.

    \b
    Exit status: 0 listed, 1 the config has errors, 2 wrong usage.
    """
    plan = plan_or_exit(config, "nothing is listed")
    if name:
        tool = _find(plan, name, offline=offline)
        click.echo(json.dumps(_document(tool), indent=2, ensure_ascii=False))
        return
    servers = _servers(plan, server)
    listings = _listings(plan, servers, offline=offline)
    tools = {each.name: all_tools(plan, each, listings) for each in servers}
    if output_format == "json":
        documents = {name: [_document(tool) for tool in each] for name, each in tools.items()}
        reasons = {s.name: [_held(u, h) for u, h in held_back(s, listings)] for s in servers}
        document = {"servers": documents, **({"held": reasons} if any(reasons.values()) else {})}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    for number, each in enumerate(servers):
        _print(each, tools[each.name], is_first=number == 0)
        for upstream, left_out in held_back(each, listings):
            click.echo(f"held back of {upstream}: {left_out.name!r}: {left_out.reason}")


def _listings(
    plan: Plan, servers: Sequence[McpServer], *, offline: bool
) -> dict[str, ServerListing]:
    """What the other servers list. Problems are printed to standard error."""
    names = {each.upstream for server in servers for each in server.servers}
    listings = offline_listings(plan)
    if names and not offline:
        listings |= fetch(plan.config, [plan.tool_upstreams[name] for name in sorted(names)])
    for name in sorted(names):
        if listings[name].problem:
            click.echo(f"{name}: {listings[name].problem}", err=True)
    return listings


def _find(plan: Plan, name: str, *, offline: bool) -> ListedTool:
    """The tool of this name, of an operation or of another server. Raises UsageError."""
    try:
        return find_tool(plan, name)
    except ValueError as error:
        servers = [*plan.config.mcp.values()]
        listings = _listings(plan, servers, offline=offline)
        every = [(s.name, tool) for s in servers for tool in all_tools(plan, s, listings)]
        matches = [tool for server, tool in every if name in (tool.name, f"{server}/{tool.name}")]
        if len(matches) == 1:
            return matches[0]
        raise click.UsageError(str(error)) from error


def _held(upstream: str, tool: HeldTool) -> Document:
    return {"upstream": upstream, "tool": tool.name, "reason": tool.reason}


def _servers(plan: Plan, name: str) -> list[McpServer]:
    servers = plan.config.mcp
    if not servers:
        raise click.UsageError("the config has no MCP servers; write them under mcp:")
    if name and name not in servers:
        raise click.UsageError(f"unknown server '{name}'; {did_you_mean(name, servers)}")
    return [servers[name]] if name else [*servers.values()]


def _document(tool: ListedTool) -> Document:
    return {**list_entry(tool), "operation": tool.operation, "tokens": context_tokens(tool)}


def _print(server: McpServer, tools: Sequence[ListedTool], *, is_first: bool) -> None:
    """The table of a server, and the size of its list."""
    if not is_first:
        click.echo()
    total = sum(context_tokens(tool) for tool in tools)
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
            f"{context_tokens(tool):,}",
            _effect(tool),
            plain_text(tool.description, _MAX_DESCRIPTION) if brief else tool.description,
        )
        for tool in tools
    ]
    print_table(Table(_HEADINGS, rows, frozenset({"TOKENS"})))


def _effect(tool: ListedTool) -> str:
    """What a call does, as clients are told."""
    if tool.annotations.get("readOnlyHint"):
        return "reads"
    return "replaces or deletes" if tool.annotations.get("destructiveHint") else "writes"
