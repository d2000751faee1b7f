"""Tools that clients do not take as they are, and descriptions with instructions for models."""

from __future__ import annotations

from engine.offline.audit import AuditCase
from engine.tools.findings import note_findings
from engine.tools.remote.findings import note_servers


def check(case: AuditCase) -> None:
    for server in case.config.mcp.values():
        note_findings(case.plan, server, case.findings)
    note_servers(case.plan, case.findings)
