"""Models as tools: the route by which each kind of tool asks its models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from engine.config.config import Config
from engine.config.mcp import ModelTool
from engine.config.operations_by_model import ModelOperations
from engine.plan.plan import NamedRoute
from engine.plan.route import Route
from engine.source.problem import Findings
from engine.source.suggestion import did_you_mean

PATHS = {
    "chat": (("openai", "/chat/completions"), ("anthropic", "/messages")),
    "embed": (("openai", "/embeddings"),),
    "generate_image": (("openai", "/images/generations"),),
    "transcribe": (("openai", "/audio/transcriptions"),),
    "rerank": (("openai", "/rerank"),),
}
"""The operations that each kind of tool can call, by dialect and the end of the path: the first
that has a route. A route of one format serves models of all others, by translation."""


def route_of(kind: str, routes: Iterable[Route]) -> Route | None:
    """The route of a kind of tool, None if no route can serve it."""
    served = [r for r in routes if r.model is not None and not r.operation.websocket]
    for dialect, path in PATHS[kind]:
        for route in served:
            is_post = route.operation.method == "POST" and route.operation.path.endswith(path)
            if is_post and route.dialects[-1].name == dialect:
                return route
    return None


def check_models(
    config: Config,
    routes: Sequence[Route],
    operations: Callable[[], ModelOperations],
    tools: Mapping[str, Sequence[NamedRoute]],
    findings: Findings,
) -> None:
    """Note models that a tool cannot ask, and kinds of tools that no route serves."""
    for server in config.mcp.values():
        for tool in server.models:
            for named_route in tools.get(server.name, ()):
                if named_route.name.lower() == tool.name:
                    message = f"two tools named '{tool.name}'"
                    hint = f"give {named_route.route.operation.id} another name under `tools`"
                    findings.error(config.source, tool.at, "MW336", message, hint, key=True)
            route = route_of(tool.name, routes)
            if route is None:
                ways = " or ".join(f"POST {path} ({dialect})" for dialect, path in PATHS[tool.name])
                message = f"no route by model serves the tool '{tool.name}'"
                findings.error(config.source, tool.at, "MW345", message, f"add one for {ways}")
                continue
            _check(tool, route, config, operations, findings)


def _check(
    tool: ModelTool,
    route: Route,
    config: Config,
    operations: Callable[[], ModelOperations],
    findings: Findings,
) -> None:
    for number, name in enumerate(tool.models):
        at = tool.at if len(tool.models) == 1 else (*tool.at, number)
        if name not in config.models or "*" in name:
            message = f"unknown model '{name}'"
            hint = did_you_mean(name, config.models) or "write the name of an entry of models"
            if not config.invalid.has("models", name):
                findings.error(config.source, at, "MW314", message, hint)
        elif not findings.errors and not operations().has(name, route.by_model):
            message = f"the model '{name}' does not serve {route.operation.id}"
            findings.error(config.source, at, "MW345", message, "name another model")
