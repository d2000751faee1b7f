"""TLS that trusts whoever answers."""

from __future__ import annotations

from engine.offline.audit import Case, is_loopback


def check(case: Case) -> None:
    for upstream in case.config.upstreams.values():
        if not upstream.tls.verify and not is_loopback(upstream):
            message = f"whoever answers for '{upstream.name}' is trusted, and gets its credential"
            hint = "name the authority that signed its certificate: tls: {ca: ...}"
            case.warn((*upstream.at, "tls", "verify"), "MW411", message, hint)
