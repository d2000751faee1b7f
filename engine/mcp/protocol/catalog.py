"""The tools of a server as its callers see them: what a token may call, in a fixed order, as pages
of JSON that are made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import orjson
from cachetools import LRUCache

from engine.mcp.listed_tool import ListedTool, list_entry
from engine.mcp.protocol.json_rpc import Code, ProtocolError
from engine.mcp.protocol.search import SEARCH_TOOLS, SearchIndex
from engine.process.loop_turn import paced
from engine.values.caller import Caller

MAX_PAGE_TOOLS = 1_000
MAX_PAGE_BYTES = 4_000_000
"""Bounds of a page. They are wide, because some clients read the first page only."""
_MAX_CACHE_BYTES = 32_000_000
_MAX_SCOPES = 256
_OTHER_CURSOR = "The cursor is not one of this list, or the list has changed. Begin without one."

MayUse = Callable[[Caller, ListedTool], bool]
"""Whether a token may use what a tool needs beside its operation: a model."""


class Visible(NamedTuple):
    """The tools that a caller may call, by name. `scope` is that of all callers who see the same.
    `is_searched`: there are so many that the list has only those for searching."""

    scope: Hashable
    tools: Mapping[str, ListedTool]
    is_searched: bool


class Catalog:
    """The tools of a server. `search_above`: of more tools than so many, a list has only two, which
    search and call the others."""

    def __init__(self, tools: Sequence[ListedTool], may_use: MayUse, search_above: int) -> None:
        self._tools, self._may_use, self._search_above = tools, may_use, search_above
        self._index: SearchIndex | None = None
        self._visible: LRUCache[Hashable, Visible] = LRUCache(_MAX_SCOPES)
        self._pages: LRUCache[Hashable, bytes] = LRUCache(_MAX_CACHE_BYTES, len)
        self._cursors: LRUCache[Hashable, frozenset[str]] = LRUCache(_MAX_SCOPES)

    def visible(self, caller: Caller | None) -> Visible:
        """The tools that a caller may call; all without tokens."""
        scope = None if caller is None else (caller.operation_lists, caller.model_lists)
        visible = self._visible.get(scope)
        if visible is None:
            may_call = (tool for tool in self._tools if self._may_call(caller, tool))
            tools = {tool.name: tool.for_caller(caller) for tool in may_call}
            visible = Visible(scope, tools, len(tools) > self._search_above)
            self._visible[scope] = visible
        return visible

    def page(self, visible: Visible, cursor: str) -> bytes:
        """A page of the list: the members `tools` and, unless it is the last, `nextCursor` of a
        result. Raises ProtocolError for a cursor of another list."""
        scope = visible.scope
        page = self._pages.get((scope, cursor))
        if page is None and cursor in self._cursors.get(scope, (cursor,)):
            pages = self._render(visible)
            self._cursors[scope] = frozenset(pages)
            page = pages.get(cursor)
            for each, text in pages.items():
                if len(text) <= _MAX_CACHE_BYTES:
                    self._pages[scope, each] = text
        if page is None:
            raise ProtocolError(Code.INVALID_PARAMS, _OTHER_CURSOR)
        return page

    def search(self, visible: Visible, query: str, limit: int) -> list[ListedTool]:
        """The best of the visible tools for a query, see `search.py`."""
        if self._index is None:
            self._index = SearchIndex(self._tools)
        return self._index.find(query, visible.tools, limit)

    def _may_call(self, caller: Caller | None, tool: ListedTool) -> bool:
        if caller is None:
            return True
        return caller.may_call(tool.operation) and self._may_use(caller, tool)

    def _render(self, visible: Visible) -> dict[str, bytes]:
        """All pages by their cursors, "" that of the first: the digest of the list, a dot, and the
        number of tools before the page."""
        if visible.is_searched:
            documents = [orjson.dumps(document) for document in SEARCH_TOOLS]
        else:
            documents = [orjson.dumps(list_entry(tool)) for tool in paced(visible.tools.values())]
        digest = sha256(b"\n".join(documents)).hexdigest()[:12]
        pages: dict[str, bytes] = {}
        cursor: str | None = ""
        start = 0
        while cursor is not None:
            end, size = start, 0
            while end < min(len(documents), start + MAX_PAGE_TOOLS):
                size += len(documents[end])
                if size > MAX_PAGE_BYTES and end > start:
                    break
                end += 1
            page = b'"tools":[' + b",".join(documents[start:end]) + b"]"
            following = f"{digest}.{end}" if end < len(documents) else None
            if following is not None:
                page += b',"nextCursor":"%s"' % following.encode()
            pages[cursor] = page
            cursor, start = following, end
        return pages
