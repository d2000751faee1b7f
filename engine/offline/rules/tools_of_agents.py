"""Tools that clients do not take as they are, and descriptions with instructions for models."""

from __future__ import annotations

from engine.offline.audit import AuditCase
from engine.tools.findings import note_findings


def check(case: AuditCase) -> None:
    for server in case.config.mcp.values():
        note_findings(case.plan, server, case.findings)
