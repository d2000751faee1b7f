"""The routes of the MCP servers of a plan: which stages their messages pass, and which tools they
have. `tool_calls.py` answers a message.

A message is one request of the log and the metrics. One that calls a tool is that of the operation,
which is called from inside and passes the stages of its route; any other is observed here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache, partial

from msgspec.structs import replace

from engine import dialects
from engine.app.mcp.remote_lists import RemoteLists
from engine.app.mcp.remote_server import RemoteCall, RemoteServer
from engine.app.mcp.tool_calls import PreparedCall, ToolCalls
from engine.app.mcp.tool_catalogs import ToolCatalogs
from engine.app.routes.internal_call import OperationCall
from engine.app.routes.worker_parts import Parts
from engine.app.services.telemetry import version
from engine.config.console import TOOLS
from engine.config.mcp import McpServer
from engine.config.server import Server as ServerConfig
from engine.edge.body_reader import check_head
from engine.edge.falcon_application import Application
from engine.edge.falcon_responder import Responder, answer_errors, discard_body
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.origin import PageOrigins, base_of
from engine.edge.path_operations import Resource
from engine.exchange.exchange import Exchange, Handler, Response, Stage, compose
from engine.mcp.listed_tool import ListedTool
from engine.mcp.models.model_tool import ModelTool, model_tools
from engine.mcp.protocol.json_rpc import error_object
from engine.mcp.protocol.resource_metadata import challenge, metadata, metadata_path
from engine.mcp.protocol.server import Server
from engine.mcp.tool import tools_of
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.plan.tool_servers import used_upstreams
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller
from engine.values.errors import GatewayError

_DIALECT = replace(dialects.default(), name="mcp", error=error_object)
"""How MCP clients read a refusal of the gateway."""
_METADATA_HEADERS = [("content-type", "application/json"), ("cache-control", "max-age=300")]
_NOT_ALLOWED = (
    "Pages of this origin may not call this MCP server. Add it to cors.origins, or set "
    "server.base_url if the page is the gateway's own."
)


def add_servers(app: Application, plan: Plan, parts: Parts) -> None:
    """Add the paths of the MCP servers of a plan, each with and without a slash at its end. In a
    worker that serves, their tools are made at once: thousands take a second, for which no request
    should wait."""
    clock = parts.services.monotonic
    remote = {
        each.name: RemoteLists(RemoteServer(each, parts), clock) for each in used_upstreams(plan)
    }
    _observe_servers(remote, parts)
    for server in plan.config.mcp.values():
        responder = cache(partial(_responder, app, plan, parts, server, remote))
        if parts.services.background:
            responder()
        path = server.path.rstrip("/")
        for template in (path, f"{path}/"):
            app.add_route(template, Resource("POST", "", (), responder))
        if plan.config.jwt:
            describe = cache(partial(_metadata_responder, parts, server))
            app.add_route(metadata_path(path), Resource("GET", "", (), describe))


def _observe_servers(remote: Mapping[str, RemoteLists], parts: Parts) -> None:
    """Let the metrics page read what the other servers list, and end their sessions at the end."""
    if not remote:
        return
    services = parts.services
    services.collectors.append(lambda: [s for each in remote.values() for s in each.samples()])
    services.closing.extend(each.server.close for each in remote.values())


def _metadata_responder(parts: Parts, server: McpServer) -> Responder:
    """Answers who issues the tokens of a server; anybody may ask."""
    config, path = parts.plan.config, server.path.rstrip("/")
    issuers = [issuer.issuer for issuer in config.jwt]

    def handle(exchange: Exchange) -> Response:
        url = base_of(exchange, config.server) + path
        return Response(200, [*_METADATA_HEADERS], metadata(url, server.name, issuers))

    stages = [*parts.cors.stages(), answer_errors, check_head, discard_body]
    return parts.responders.responder(compose(stages, handle), [_DIALECT])


def _responder(
    app: Application,
    plan: Plan,
    parts: Parts,
    server: McpServer,
    remote: Mapping[str, RemoteLists],
) -> Responder:
    routes = [entry.route for entry in plan.tools[server.name]]
    is_mixed = bool(server.servers or server.models)
    is_public = bool(routes) and not is_mixed and all(r.allows_anonymous for r in routes)
    fixed: list[ListedTool] = [*tools_of(plan, server), *model_tools(plan, server)]
    fixed.sort(key=lambda tool: tool.name)
    lists = [(each, remote[each.upstream]) for each in server.servers]
    catalogs = ToolCatalogs(server, fixed, _ModelAccess(plan).may_use, lists)
    protocol = Server(server.name, version(), catalogs.fixed, is_public=is_public)
    calls = ToolCalls(
        *(protocol, server.name, plan.config.server, parts.lifecycle, parts.services.proxies),
        lambda tool: OperationCall(app, tool.route, parts, is_judged=tool.judges_values),
        catalogs,
        {each.upstream: remote[each.upstream].server for each in server.servers},
    )
    stages = _stages(server, parts, calls, is_public=is_public, finds_tools=catalogs.change)
    handler = compose(stages, calls.handle)
    return parts.responders.responder(handler, [_DIALECT])


def _stages(
    server: McpServer, parts: Parts, calls: ToolCalls, *, is_public: bool, finds_tools: bool
) -> list[Stage]:
    """The stages of a message: one that no page of another site has sent, from a known caller, is
    read, and made a request of the operation that it calls. To call that is left to the handler.
    `finds_tools`: other servers are asked for theirs."""
    config, shared = parts.plan.config, parts.shared
    return [
        partial(_observe, parts.lifecycle),
        *parts.cors.stages(),
        answer_errors,
        check_head,
        partial(_check_origin, PageOrigins(config.origins, config.server.base_url)),
        *([partial(_challenge, config.server, metadata_path(server.path))] if config.jwt else []),
        authenticate(
            *([BEARER], is_public, parts.services),
            any_operation=True,
            sign_in=parts.services.sign_in if config.console.serves(TOOLS) else None,
        ),
        *([calls.find_tools] if finds_tools else []),
        *shared.take_turn(parts.watcher.watch),
        shared.in_parts(calls.prepare),
        *shared.end_turn(),
    ]


def _observe(lifecycle: RequestLifecycle, exchange: Exchange, following: Handler) -> Response:
    """Observe a message, unless it calls an operation, whose own exchange is observed."""
    start, now = time.monotonic(), time.time()

    def enter() -> None:
        if not isinstance(exchange.content.value, (PreparedCall, RemoteCall)):
            lifecycle.enter(exchange)
            exchange.record.start, exchange.record.time = start, now

    try:
        response = following(exchange)
    except BaseException:
        enter()
        exchange.end()
        raise
    enter()
    return response


def _check_origin(origins: PageOrigins, exchange: Exchange, following: Handler) -> Response:
    if not origins.allow(exchange.environ):
        raise GatewayError(403, "origin_not_allowed", _NOT_ALLOWED)
    return following(exchange)


def _challenge(config: ServerConfig, path: str, exchange: Exchange, following: Handler) -> Response:
    """Let a refusal for want of a token say where its issuer is found."""
    try:
        return following(exchange)
    except GatewayError as error:
        if error.status == 401:
            others = [pair for pair in error.headers if pair[0] != "www-authenticate"]
            error.headers = [*others, challenge(base_of(exchange, config) + path)]
        raise


class _ModelAccess:
    """Which tools a token may use, as far as they need a model."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._models: dict[str, list[str]] = {}

    def may_use(self, caller: Caller, tool: ListedTool) -> bool:
        """Whether the caller may use a model that a tool can ask for, or it needs none. A model of
        a wildcard counts if the caller may use any."""
        if isinstance(tool, ModelTool):
            return any(map(caller.may_use, tool.models))
        if tool.route.model is None or not caller.model_lists:
            return True
        names = self._models_of(tool.route)
        return any(
            caller.may_use(name) or ("*" in name and all(caller.model_lists)) for name in names
        )

    def _models_of(self, route: Route) -> list[str]:
        operation = route.by_model
        if operation.id not in self._models:
            operations = self._plan.model_operations()
            names = [name for name in self._plan.config.models if operations.has(name, operation)]
            self._models[operation.id] = names
        return self._models[operation.id]
