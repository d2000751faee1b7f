"""What `check` notes of other MCP servers: tools that are not pinned, and pinned ones whose texts
tell models what to do."""

from __future__ import annotations

from engine.mcp.suspicions import ADDRESS, descriptions, suspicions
from engine.plan.route import Plan, ToolUpstream
from engine.plan.tool_servers import used_upstreams
from engine.source.problem import Findings, Level


def note_servers(plan: Plan, findings: Findings) -> None:
    """Note the findings of the MCP servers whose tools are listed."""
    for upstream in used_upstreams(plan):
        if upstream.pins is None:
            at = plan.config.upstreams[upstream.name].at
            message = f"the tools of '{upstream.name}' are not pinned: it may change them any time"
            hint = "write `pins: FILE`, then `modelway tools pin`"
            source = plan.config.source
            findings.note(source, (*at, "mcp"), Level.WARNING, "MW492", message, hint)
        else:
            _note_suspicions(upstream, plan, findings)


def _note_suspicions(upstream: ToolUpstream, plan: Plan, findings: Findings) -> None:
    at = (*plan.config.upstreams[upstream.name].at, "pins")
    for name, tool in (upstream.pins or {}).items():
        parts = {kind: part for text in descriptions(tool) for kind, part in suspicions(text)}
        for kind, part in parts.items():
            code = "MW484" if kind == ADDRESS else "MW483"
            message = f"the tool '{name}' of '{upstream.name}' has an {kind}: '{part}'"
            hint = 'read it; leave the tool out with `tools: ["!NAME"]` if it is no mistake'
            findings.note(plan.config.source, at, Level.WARNING, code, message, hint)
