"""Other MCP servers whose tools are tools here: the route of a call to each, and its pins.

A call of such a tool passes the stages of a route of its own, which no document has: its operation
is `UPSTREAM.TOOL`, in `operations` of tokens, the ledger and the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from urllib.parse import urlsplit

from engine import dialects
from engine.config.config import Config
from engine.config.mcp import ToolServer
from engine.config.models import TargetConfig
from engine.config.upstreams import UpstreamConfig
from engine.exchange.environ_headers import environ_key
from engine.plan.plan import Plan, ToolUpstream
from engine.plan.route import Route
from engine.plan.tool_pins import Definition, InvalidPins, read_pins
from engine.policies import Guards, guards, transform_of
from engine.source.files import is_file, read_bytes
from engine.source.problem import Findings
from engine.source.suggestion import did_you_mean
from engine.spec.bodies.body_parsers import parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter
from engine.spec.security import BEARER
from engine.values.usage import Takes

SESSION = "mcp-session-id"
HEADERS = ("accept", "mcp-protocol-version", "mcp-method", "mcp-name", SESSION)
"""The headers of a message that pass to an upstream only where they are declared."""
_PIN = "`modelway tools pin` writes it"


def check_servers(config: Config, findings: Findings) -> None:
    """Note servers that are none, and files of pins that cannot be used."""
    for server in config.mcp.values():
        for each in server.servers:
            _check_server(each, config, findings)
    for upstream in config.upstreams.values():
        if upstream.mcp:
            _check_upstream(upstream, config, findings)
            read(upstream, config, findings)


def _check_server(server: ToolServer, config: Config, findings: Findings) -> None:
    upstream = config.upstreams.get(server.upstream)
    if upstream is None:
        if not config.invalid.has("upstreams", server.upstream):
            message = f"unknown upstream '{server.upstream}'"
            hint = did_you_mean(server.upstream, config.upstreams)
            findings.error(config.source, server.at, "MW313", message, hint, key=True)
    elif not upstream.mcp:
        message = f"'{server.upstream}' is no MCP server"
        hint = "write its URL as `mcp` in place of `url`, or its operations under `operations`"
        findings.error(config.source, server.at, "MW343", message, hint, key=True)


def _check_upstream(upstream: UpstreamConfig, config: Config, findings: Findings) -> None:
    for message, hint in _mistakes(upstream, config):
        findings.error(config.source, upstream.at, "MW343", message, hint, key=True)


def _mistakes(upstream: UpstreamConfig, config: Config) -> Iterator[tuple[str, str]]:
    if upstream.name in config.specs:
        message = f"'{upstream.name}' is an MCP server and a document"
        yield message, "rename one: both are the first part of the names of operations"
    targets = [target for model in config.models.values() for target in model.targets]
    targets += [target for route in config.routes for target in route.to]
    if any(target.upstream == upstream.name for target in targets):
        message = f"'{upstream.name}' is an MCP server, to which no route or model leads"
        yield message, "name it under `servers` of an entry of mcp, or write `url` for an HTTP API"


def read(
    upstream: UpstreamConfig, config: Config, findings: Findings
) -> Mapping[str, Definition] | None:
    """The pinned tools of an upstream, None if they are not pinned or the file has a mistake."""
    if not upstream.pins:
        return None
    file, at = FilePath(upstream.pins), (*upstream.at, "pins")
    if not is_file(file):
        message = f"there is no file '{file.name}'"
        findings.error(config.source, at, "MW344", message, _PIN)
        return None
    try:
        return read_pins(read_bytes(file))
    except InvalidPins as error:
        message = f"'{file.name}' has no pins: {error}"
        findings.error(config.source, at, "MW344", message, f"{_PIN} anew; review the difference")
        return None


def tool_upstreams(config: Config) -> dict[str, ToolUpstream]:
    """The upstreams of a config without errors that are MCP servers."""
    upstreams = {}
    for upstream in config.upstreams.values():
        if upstream.mcp:
            pins = read(upstream, config, Findings())
            route, url = _route(upstream, config), urlsplit(upstream.mcp)
            upstreams[upstream.name] = ToolUpstream(
                *(upstream.name, route, url.path or "/", url.query),
                *(upstream.forward_headers, pins),
            )
    return upstreams


def used_upstreams(plan: Plan) -> list[ToolUpstream]:
    """Those whose tools are listed by a server of a plan."""
    names = {each.upstream for server in plan.config.mcp.values() for each in server.servers}
    return [plan.tool_upstreams[name] for name in plan.tool_upstreams if name in names]


def _route(upstream: UpstreamConfig, config: Config) -> Route:
    """The route of calls. Policies of the config guard it, but for transforms, which edit what a
    document has."""
    policies = tuple(policy for policy in config.policies if not transform_of(policy))
    compiled = guards(policies, config.currency) if policies else Guards()
    return Route(
        operation=_operation(upstream, config),
        dialects=(dialects.get(dialects.PLAIN),),
        carriers=(BEARER,),
        model=None,
        default_model="",
        model_copies=(),
        to=(TargetConfig(upstream.name, "", 1.0),),
        answer=None,
        allows_anonymous=False,
        validate="off",
        policies=policies,
        guards=compiled,
        slash_variables=(),
        takes=Takes(),
        websocket=None,
        at=upstream.at,
    )


def _operation(upstream: UpstreamConfig, config: Config) -> Operation:
    """The operation of a call; that of a request is `UPSTREAM.TOOL`. Policies see the arguments of
    the tool as its body."""
    return Operation(
        id=f"{upstream.name}.*",
        spec=upstream.name,
        method="POST",
        path="/",
        mounts=(),
        carriers=(BEARER,),
        parameters=tuple(
            Parameter(name, "header", False, _absent, None, header=environ_key(name))
            for name in HEADERS
        ),
        bodies=Bodies(rules={"application/json": BodyRule(parse_json, None)}),
        websocket=False,
        source=config.source,
        at=upstream.at,
        response_headers=(SESSION,),
    )


def _absent(source: object) -> object:
    """The reader of a header that is not checked."""
    return source
