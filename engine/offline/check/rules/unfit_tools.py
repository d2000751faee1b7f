"""Tools that clients do not take as they are, and descriptions with instructions for models."""

from __future__ import annotations

from engine.mcp.findings import note_findings
from engine.mcp.remote.findings import note_servers
from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    for server in case.config.mcp.values():
        note_findings(case.plan, server, case.findings)
    note_servers(case.plan, case.findings)
