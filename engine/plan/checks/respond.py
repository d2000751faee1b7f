"""Checks of `respond` on routes: a response that HTTP allows, and that the gateway can send."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.config.config import Config
from engine.config.respond import Respond
from engine.config.routes import RouteConfig
from engine.source.problem import Findings

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WITHOUT_BODY = frozenset({204, 205, 304})
"""The statuses whose responses have no content (RFC 9110 15.3.5, 15.3.6 and 15.4.5)."""
_OF_CONNECTION = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
_OF_GATEWAY = frozenset({"date", "server", "x-request-id", "request-id"})
_FIELD_VALUE = re.compile(r"[\x20-\x7e\t]*+")
_SECONDS = re.compile(r"[0-9]{1,9}")

_Problem = tuple[tuple[str, ...], str, str]


def check_responses(config: Config, findings: Findings) -> None:
    """Note each response of a route that cannot be sent as it is written."""
    for route in config.routes:
        if route.respond is not None:
            for keys, message, hint in _problems(route, route.respond):
                at = (*route.at, *keys)
                findings.error(config.source, at, "MW530", message, hint)


def _problems(route: RouteConfig, respond: Respond) -> Iterator[_Problem]:
    status, headers = respond.status, dict(respond.headers)
    if status in _WITHOUT_BODY and respond.has_body:
        yield ("respond", "body"), f"a response {status} has no body", "remove it"
    if status in _REDIRECTS and not headers.get("location"):
        hint = "write headers: {location: https://host/path}"
        yield ("respond", "status"), f"a redirect {status} needs the header 'location'", hint
    if len(headers) < len(respond.headers):
        yield ("respond", "headers"), "a header is given twice", "names have no case"
    for name, value in respond.headers:
        if problem := _header_problem(name, value):
            yield ("respond", "headers"), *problem
    if route.hedge is not None:
        yield ("hedge",), "a route with 'respond' asks no target", "remove 'hedge'"


def _header_problem(name: str, value: str) -> tuple[str, str] | None:
    if name in _OF_CONNECTION:
        return f"'{name}' is about the connection, which the gateway manages", "remove it"
    if name in _OF_GATEWAY:
        return f"the gateway sends its own '{name}'", "remove it"
    if not _FIELD_VALUE.fullmatch(value):
        return f"the value of '{name}' is not plain text of one line", "write printable ASCII"
    if name == "retry-after" and not _SECONDS.fullmatch(value):
        return "'retry-after' is not a number of seconds", "write retry-after: 120"
    return None
