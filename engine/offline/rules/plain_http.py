"""Requests and credentials that cross a network unencrypted."""

from __future__ import annotations

from engine.offline.audit import AuditCase, is_loopback


def check(case: AuditCase) -> None:
    for upstream in case.config.upstreams.values():
        if upstream.url.startswith("http://") and not is_loopback(upstream):
            message = f"upstream '{upstream.name}' is called over plain http"
            case.warn((*upstream.at, "url"), "MW401", message, "use https")
