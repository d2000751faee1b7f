"""The tools of one MCP server of ours as they are now: those that never change, and those that
other servers list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from cachetools import LRUCache
from gevent.lock import BoundedSemaphore

from engine.app.mcp.remote_lists import RemoteLists
from engine.config.mcp import McpServer, ToolServer
from engine.mcp.listed_tool import ListedTool
from engine.mcp.protocol.catalog import Catalog, MayUse
from engine.mcp.remote.listing import Listing, Pace, RemoteTool, remote_tools, unique
from engine.plan.plan import ToolUpstream
from engine.process.loop_turn import paced

_MAX_CATALOGS = 16
"""Catalogs that are kept: one for all callers, unless their headers are passed on."""


class ToolCatalogs:
    """The catalogs of a server. `tools` never change; `lists` are those of the other servers, in
    the order of the config."""

    def __init__(
        self,
        server: McpServer,
        tools: Sequence[ListedTool],
        may_use: MayUse,
        lists: Iterable[tuple[ToolServer, RemoteLists]],
    ) -> None:
        self._server, self._tools, self._may_use = server, tools, may_use
        self._lists = [*lists]
        self.fixed = Catalog(tools, may_use, server.search_above)
        self._catalogs: LRUCache[Hashable, Catalog] = LRUCache(_MAX_CATALOGS)
        self._turn = BoundedSemaphore()  # others wait for one that is being made

    @property
    def change(self) -> bool:
        """Whether there are others than the fixed one."""
        return bool(self._lists)

    def of(self, environ: Mapping[str, Any]) -> Catalog:
        """The catalog for callers with these headers; asks the servers if it must."""
        listings = [lists.listing(environ) for _, lists in self._lists]
        key = tuple(listing.digest for listing in listings)
        if (catalog := self._catalogs.get(key)) is not None:
            return catalog
        with self._turn:
            catalog = self._catalogs.get(key)
            if catalog is None:
                tools = [*self._tools, *self._remote(listings)]
                tools.sort(key=lambda tool: tool.name)
                catalog = Catalog(tools, self._may_use, self._server.search_above)
                self._catalogs[key] = catalog
        return catalog

    def _remote(self, listings: Sequence[Listing]) -> list[RemoteTool]:
        entries = [
            (server, lists.server.upstream, listing)
            for (server, lists), listing in zip(self._lists, listings, strict=True)
        ]
        return tools_of_servers(self._server, self._tools, entries, paced)


def tools_of_servers(
    entry: McpServer,
    others: Iterable[ListedTool],
    listings: Iterable[tuple[ToolServer, ToolUpstream, Listing]],
    pace: Pace = iter,
) -> list[RemoteTool]:
    """The tools that an entry of mcp takes of other servers, with names that none of its `others`
    has."""
    tools: list[RemoteTool] = []
    for server, upstream, listing in listings:
        tools += remote_tools(listing, server, upstream, entry, pace)
    return unique(tools, [tool.name for tool in others], entry.name, pace)
