"""What other MCP servers list, asked without serving: for `modelway tools`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import gevent
from msgspec import Struct
from msgspec.structs import replace

from engine.app.mcp.remote_lists import LIST_SECONDS
from engine.app.mcp.remote_server import RemoteServer
from engine.app.mcp.tool_catalogs import tools_of_servers
from engine.app.routes.worker_parts import Parts, identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.config.config import Config
from engine.config.mcp import McpServer
from engine.edge.inside_call import InsideCalls
from engine.exchange.stage_services import Services
from engine.mcp.listed_tool import ListedTool
from engine.mcp.models.model_tool import model_tools
from engine.mcp.remote.listing import HeldTool, Listing, listing_of, pinned_listing
from engine.mcp.remote.replies import RemoteError
from engine.mcp.tool import tools_of
from engine.plan.plan import Plan, ToolUpstream
from engine.plan.tool_servers import tool_upstreams
from engine.upstream.client.client import Client
from engine.values.errors import AbortConnection, GatewayError


class ServerListing(Struct, frozen=True):
    """What a server lists; `problem` says why it did not, "" if it did."""

    listing: Listing
    problem: str = ""


def fetch(config: Config, upstreams: Sequence[ToolUpstream]) -> dict[str, ServerListing]:
    """What these servers of a config list, by the names of their upstreams. Each is asked for at
    most LIST_SECONDS."""
    services = Services()
    bare = replace(config, models={}, tokens={}, mcp={}, routes=(), policies=())
    parts = parts_of(
        *(Plan(bare, ()), services, Client, open_shared(config), identity, InsideCalls())
    )
    with closing(services):
        tasks = {each.name: gevent.spawn(_fetch, each, parts) for each in upstreams}
        gevent.joinall([*tasks.values()])
        for upstream in parts.upstreams.values():
            upstream.client.close()
    return {name: task.get() for name, task in tasks.items()}


def _fetch(upstream: ToolUpstream, parts: Parts) -> ServerListing:
    server = RemoteServer(upstream, parts)
    try:
        with gevent.Timeout(LIST_SECONDS):
            listing = listing_of(upstream, server.pages({}))
    except gevent.Timeout:
        return ServerListing(pinned_listing(upstream), f"no answer within {LIST_SECONDS:g} s")
    except (RemoteError, GatewayError, AbortConnection) as error:
        return ServerListing(pinned_listing(upstream), str(error))
    finally:
        server.close()
    return ServerListing(listing)


def unpinned(config: Config, names: Sequence[str]) -> list[ToolUpstream]:
    """The MCP servers of these names, as if their tools were not pinned."""
    upstreams = tool_upstreams(config)
    return [replace(upstreams[name], pins=None) for name in names]


def all_tools(
    plan: Plan, server: McpServer, listings: dict[str, ServerListing]
) -> list[ListedTool]:
    """The tools of a server of ours, in the order of their names."""
    fixed: list[ListedTool] = [*tools_of(plan, server), *model_tools(plan, server)]
    upstreams = plan.tool_upstreams
    entries = [
        (each, upstreams[each.upstream], listings[each.upstream].listing) for each in server.servers
    ]
    return sorted([*fixed, *tools_of_servers(server, fixed, entries)], key=lambda tool: tool.name)


def held_back(
    server: McpServer, listings: dict[str, ServerListing]
) -> Iterator[tuple[str, HeldTool]]:
    """The tools that a server of ours does not list, each with the upstream of its server."""
    for each in server.servers:
        for tool in listings[each.upstream].listing.held_tools:
            if each.takes(tool.name):
                yield each.upstream, tool


def offline_listings(plan: Plan) -> dict[str, ServerListing]:
    """The pinned tools of all servers, of which none is asked."""
    listings = {}
    for name, upstream in plan.tool_upstreams.items():
        problem = "" if upstream.pins else "its tools are not pinned"
        listings[name] = ServerListing(pinned_listing(upstream), problem)
    return listings
