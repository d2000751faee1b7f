"""The request for a target, built from the caller's: path, headers, name of the model, body.

The credential is set afterwards (`credentials`), as the last change.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Sequence
from functools import lru_cache

import orjson

from engine.exchange.exchange import Exchange
from engine.relay.request_headers import RequestHeaders
from engine.spec.document.path_templates import unsafe
from engine.spec.expression import Expression
from engine.transforms.template import TemplateValues
from engine.upstream.targets.target import Target, Upstream
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit
from engine.values.upstream_request import Spool, UpstreamRequest

USER_AGENT = "modelway"
log = logging.getLogger("modelway")


def build_request(
    target: Target,
    exchange: Exchange,
    headers: RequestHeaders,
    expression: Expression | None,
    edits: Sequence[Edit] = (),
) -> UpstreamRequest:
    """The request for a target: the caller's headers that `headers` picks, the body with the
    `edits`, and the target's name for the model in the place of `expression`. Raises GatewayError
    500 for a path that is not below the upstream's base path."""
    upstream = target.upstream
    if expression is not None:
        usage_edit = exchange.metering.usage_edit
        if usage_edit is not None and upstream.ask_usage:
            edits = (usage_edit, *edits)
        exchange = _rename_model(exchange, expression, target.model, edits)
    fields = request_headers(headers.pick(exchange.environ), upstream, exchange)
    body = _body(exchange)
    if (upgrade := exchange.upgrade) is not None:
        fields = [pair for pair in fields if pair[0] != "content-type"] + [*upgrade.headers]
        upgrade.opening, body = bytes(exchange.body.buffer), None
    path = _path(upstream, exchange)
    return UpstreamRequest(
        exchange.method, upstream.client.host, path, exchange.query, fields, body
    )


def request_headers(
    fields: Iterable[tuple[str, str]], upstream: Upstream, exchange: Exchange
) -> list[tuple[str, str]]:
    """The headers of a request: `fields` and the gateway's own."""
    headers = [
        *fields,
        ("accept-encoding", "identity"),
        ("user-agent", USER_AGENT),
        ("x-request-id", exchange.request_id),
    ]
    if exchange.trace is not None:
        headers = exchange.trace.attempt_headers(headers)
    edits = exchange.edits
    return headers if edits is None or edits.headers is None else edits.headers(headers)


def edit_request(target: Target, request: UpstreamRequest, exchange: Exchange) -> None:
    """Apply the edits of a target's transforms. Raises GatewayError 400 for a request with a value
    that is not valid in its new place, 500 for a path that cannot be sent."""
    upstream = target.upstream
    values = TemplateValues(exchange, upstream.name, target.model or exchange.model.name)
    try:
        target.edits.apply(request, upstream.client.base_path, values)
    except ValueError as error:
        raise _unsendable_path(exchange, upstream, error) from error


def upstream_path(base_path: str, mount: str, path: str) -> str:
    """The raw path `path`, with the segments of `mount` replaced by `base_path`; unchanged if the
    mount is "/", that of an operation whose path is from the root of the server.

    The prefix is removed by its number of segments, not by its length: a segment may be
    percent-encoded in the request, in the document or in both. Raises ValueError for a path whose
    result would not be below `base_path`.
    """
    if mount == "/":
        return upstream_path("", "", path)
    end = len(mount)
    if not (path.startswith(mount) and path.startswith("/", end)):
        end = _end_of_segments(path, mount.count("/"))
        if not path.startswith("/", end):
            raise ValueError("nothing follows the mount prefix")
    suffix = path[end:]
    if (reason := unsafe(suffix)) is not None:
        raise ValueError(reason)
    return base_path + suffix


_fixed_path = lru_cache(maxsize=512)(upstream_path)
"""The path of an operation without variables, which is the same in each request."""


def _path(upstream: Upstream, exchange: Exchange) -> str:
    path_of = upstream_path if exchange.variables else _fixed_path
    try:
        return path_of(upstream.client.base_path, exchange.mount, exchange.path)
    except ValueError as error:
        raise _unsendable_path(exchange, upstream, error) from error


def _unsendable_path(exchange: Exchange, upstream: Upstream, error: ValueError) -> GatewayError:
    """Log a path that is not below the upstream's base path. Returns GatewayError 500."""
    log.error(
        "request %s was not sent: its path is not below the base path of upstream '%s': %s",
        exchange.request_id,
        upstream.name,
        error,
    )
    message = "The request's path cannot be sent to the upstream."
    return GatewayError(500, "internal_error", message, retry=False)


def _end_of_segments(path: str, count: int) -> int:
    """The index at which the first `count` segments end; each begins with a slash."""
    at = 0
    for _ in range(count):
        if path[at : at + 1] != "/":
            break
        following = path.find("/", at + 1)
        at = len(path) if following < 0 else following
    return at


def _body(exchange: Exchange) -> bytes | Spool | None:
    """The body to send: bytes if it is in memory, else a Spool; None for a GET without one."""
    body = exchange.body
    if exchange.method == "GET" and not body.size:
        return None
    return body if body.in_memory is None else body.in_memory


def _rename_model(
    exchange: Exchange, expression: Expression, model: str, edits: Sequence[Edit]
) -> Exchange:
    """The exchange with the target's name for the model, inserted if the request had none, and with
    the edits of its body."""
    requested = exchange.model
    name = requested.prefix + (model or requested.name)
    unchanged = expression.read(exchange) == name
    if unchanged and not edits:
        return exchange
    renamed = copy.copy(exchange)
    if not unchanged:
        expression.replace(renamed, requested.span, name, edits)
    if unchanged or expression.location != "body":
        repeats = () if unchanged else requested.copies
        copies = [(s, e, orjson.dumps(before + name)) for s, e, before in repeats]
        if copies or edits:
            renamed.body = exchange.body.with_edits(*copies, *edits)
    return renamed
