"""What the MCP servers behind the gateway list, in one worker: fetched when a caller needs it, kept
for as long as a server says, within bounds.

A server that does not answer costs callers at most LIST_SECONDS once in RETRY_SECONDS; meanwhile
its last list holds, or its pins. What is held back is logged when it changes, and counted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gevent
from cachetools import LRUCache
from gevent.lock import BoundedSemaphore

from engine.app.mcp.remote_server import RemoteServer
from engine.mcp.remote.listing import Listing, listing_of, pinned_listing
from engine.mcp.remote.replies import RemoteError
from engine.process.loop_turn import paced
from engine.telemetry.metrics import mcp as messages
from engine.values.errors import AbortConnection, GatewayError
from engine.values.metric import Sample
from engine.values.units import format_names

LIST_SECONDS = 15.0
RETRY_SECONDS = 10.0
DEFAULT_SECONDS = 300.0
"""How long a list is kept of which its server does not say it."""
MIN_SECONDS, MAX_SECONDS = 5.0, 3_600.0
_MAX_LISTS = 64
"""Lists of one server: one for all, unless headers of callers are passed on."""
_MAX_NAMED = 8

log = logging.getLogger("modelway")


@dataclass(slots=True)
class _Entry:
    listing: Listing | None = None
    expires: float = 0.0
    lock: BoundedSemaphore = field(default_factory=BoundedSemaphore)


class RemoteLists:
    """The lists of one server. `clock` gives seconds that nobody sets."""

    def __init__(self, server: RemoteServer, clock: Callable[[], float]) -> None:
        self.server, self._clock = server, clock
        self._entries: LRUCache[str, _Entry] = LRUCache(_MAX_LISTS)
        self._counts = {"received": 0, "failed": 0}
        self._last_report = ""
        self._held = 0

    def listing(self, environ: Mapping[str, Any]) -> Listing:
        """The listing for callers with these headers."""
        key = repr(self.server.forwarded(environ))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry()
        if self._clock() < entry.expires:
            assert entry.listing is not None
            return entry.listing
        if entry.listing is not None and entry.lock.locked():
            return entry.listing  # another request asks for it
        with entry.lock:
            if self._clock() >= entry.expires:
                self._refresh(entry, environ)
        assert entry.listing is not None
        return entry.listing

    def samples(self) -> Iterator[Sample]:
        """The samples of the metrics."""
        name = self.server.upstream.name
        yield messages.MCP_HELD, (name,), float(self._held)
        for outcome, count in self._counts.items():
            yield messages.MCP_LISTS, (name, outcome), float(count)

    def _refresh(self, entry: _Entry, environ: Mapping[str, Any]) -> None:
        upstream = self.server.upstream
        try:
            with gevent.Timeout(LIST_SECONDS):
                entry.listing = listing_of(upstream, self.server.pages(environ), paced)
        except (RemoteError, GatewayError, AbortConnection, gevent.Timeout) as error:
            self.server.forget()
            self._counts["failed"] += 1
            reason = f"no list within {error}" if isinstance(error, gevent.Timeout) else error
            log.warning("MCP server '%s' did not list its tools: %s", upstream.name, reason)
            if entry.listing is None:
                entry.listing = pinned_listing(upstream)
            entry.expires = self._clock() + RETRY_SECONDS
            return
        self._counts["received"] += 1
        seconds = entry.listing.seconds or DEFAULT_SECONDS
        entry.expires = self._clock() + min(max(seconds, MIN_SECONDS), MAX_SECONDS)
        self._report(entry.listing)

    def _report(self, listing: Listing) -> None:
        """Log what is held back, when that changes."""
        self._held = len(listing.held_tools)
        if (report := repr(listing.held_tools)) == self._last_report:
            return
        self._last_report = report
        if listing.held_tools:
            names = format_names(
                [f"{tool.name!r} ({tool.reason})" for tool in listing.held_tools], _MAX_NAMED
            )
            hint = "`modelway tools` shows them; review, then `modelway tools pin`"
            name = self.server.upstream.name
            log.warning("MCP server '%s': tools are held back: %s; %s", name, names, hint)
