"""Judges one request of a batch as the route of its operation would: rights, models, policies,
transforms, schema and ids of objects. It is sent nowhere, so it takes of no quota."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.app.routes.worker_parts import Parts
from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Handler, Response, Stage, compose
from engine.exchange.opened_ids import Batch
from engine.exchange.request_body import Body, ReceivedBody
from engine.objects.batches.batch_requests import BatchRequest, VendorRequest
from engine.objects.id_opener import check_holder
from engine.plan.route import Route
from engine.spec.document.path_templates import unsafe
from engine.spec.document.path_tree import PathMatch, PathTree, Spans
from engine.upstream.requests.build_request import build_request, edit_request
from engine.upstream.targets.target import Target
from engine.values.errors import GatewayError

StagesOfRoute = Callable[[Route], tuple[Sequence[Stage], Sequence[Stage], Sequence[Stage]]]
"""The stages of a route that judge a request: before its schema, the schema, and behind it."""


@dataclass
class _Operation:
    """The route of an operation whose requests batches may have."""

    route: Route
    stages: StagesOfRoute

    @cached_property
    def handlers(self) -> tuple[Handler, Handler, Handler]:
        """What judges a request, made at the first of them."""
        before, schema, behind = self.stages(self.route)
        return compose(before, _pass), compose(schema, _pass), compose(behind, _pass)


def _pass(exchange: Exchange) -> Response:
    return Response(204, [])


class BatchJudge:
    """Judges the requests of batches of one dialect. `path` makes the path of a request of that of
    its batch, where it does not name one."""

    def __init__(
        self, dialect: Dialect, parts: Parts, path: Callable[[str], str], stages: StagesOfRoute
    ) -> None:
        self._parts, self._path = parts, path
        self._tree = PathTree()
        for route in parts.plan.routes:
            operation = route.operation
            is_own = route.dialects[-1] is dialect and route.model is not None
            if is_own and operation.method == "POST" and route.answer is None:
                entries = self._tree.add(operation.path, "POST", [], route.slash_variables)
                entries.append(_Operation(route, stages))

    def __call__(self, exchange: Exchange, request: BatchRequest, batch: Batch) -> VendorRequest:
        """The request as the upstream of the batch gets it. Raises GatewayError."""
        path, match = self._find(exchange, request)
        errors: list[GatewayError] = []
        for operation in match.value:
            inner = _exchange(exchange, operation.route, path, match.variables, request.body)
            try:
                vendor_request = self._judge(inner, operation, request, batch)
            except GatewayError as error:
                errors.append(error)
            else:
                if vendor_request.fault is None or operation is match.value[-1]:
                    return vendor_request
            finally:
                inner.end()
        raise errors[0]

    def _find(self, exchange: Exchange, request: BatchRequest) -> tuple[str, PathMatch]:
        """The operation of a request, whose path is below the mount. Raises GatewayError 400."""
        mount = exchange.mount.rstrip("/")
        path = request.url or mount + self._path(exchange.path.removeprefix(mount))
        if unsafe(path) is None and "?" not in path:
            for prefix in (mount, *self._bases):
                if path.startswith(f"{prefix}/"):
                    match = self._tree.find(path[len(prefix) :], "POST")
                    if isinstance(match, PathMatch):
                        return path[len(prefix) :], match
        message = f"Nothing is served at '{path[:200]}' that a batch may ask for."
        raise GatewayError(400, "invalid_value", message, param="url" if request.url else "")

    @cached_property
    def _bases(self) -> list[str]:
        """The paths of upstreams, which requests may name, and none."""
        bases = {each.client.base_path.rstrip("/") for each in self._parts.upstreams.values()}
        return sorted(bases | {""}, key=len, reverse=True)

    def _judge(
        self, inner: Exchange, operation: _Operation, request: BatchRequest, batch: Batch
    ) -> VendorRequest:
        route = operation.route
        caller, before, fault = inner.caller, operation.handlers[0], None
        if caller is not None and not caller.may_call(inner.operation):
            message = f"This token may not call '{inner.operation}'."
            raise GatewayError(403, "operation_not_allowed", message)
        before(inner)
        try:
            operation.handlers[1](inner)
        except GatewayError as error:
            fault = error
        operation.handlers[2](inner)
        target = self._target(inner, route, batch)
        headers = self._parts.headers.requests(route.dialects[-1], ())[target.upstream.name]
        upstream_request = build_request(target, inner, headers, route.model)
        if target.edits.transforms:
            edit_request(target, upstream_request, inner)
        batch.operation = batch.operation or inner.operation
        _keep_model(batch, target.model or inner.model.name, inner.model.name)
        body = upstream_request.body
        assert body is None or isinstance(body, bytes)  # those of requests in batches are in memory
        return VendorRequest(upstream_request.path, body or b"", fault)

    def _target(self, inner: Exchange, route: Route, batch: Batch) -> Target:
        """The target at the upstream of the batch, which the first request chooses. Raises
        GatewayError 400 for a model or an object that is not there."""
        _keep_holder(inner, batch)
        names = batch.upstreams
        if batch.holder is not None:
            names = tuple(name for name in names if name == batch.holder.upstream)
        operations = self._parts.models.operations
        native: dict[str, Target] = {}
        targets: Sequence[Target] = inner.model.targets  # type: ignore[assignment]
        for target in targets:
            upstream = target.upstream
            if not operations.language(target.entry, upstream.dialect, route.by_model):
                native.setdefault(upstream.name, target)
        for name in names:
            if name in native:
                batch.upstreams = (name,)
                return native[name]
        places = " or ".join(f"'{name}'" for name in names) or "no upstream of batches"
        name = inner.model.name[:200]
        message = f"The model '{name}' is not served at {places}, where this batch goes."
        raise GatewayError(400, "model_of_another_upstream", message, param="model")


def _keep_model(batch: Batch, vendor_model: str, model: str) -> None:
    """Note the callers' name of a model. Raises GatewayError 400 for a second name of it, because
    results could not be told apart."""
    first = batch.models.setdefault(vendor_model, model)
    if first != model:
        message = (
            f"'{model[:200]}' is the model that this batch also calls '{first[:200]}'. Use one "
        )
        message += "name for it."
        raise GatewayError(400, "invalid_value", message, param="model")


def _keep_holder(inner: Exchange, batch: Batch) -> None:
    """Note where the objects of a request live. Raises GatewayError 400 for another place than that
    of the requests before."""
    opened = inner.objects
    if opened is None or opened.holder is None:
        return
    if batch.holder is None:
        batch.holder, batch.kind = opened.holder, opened.kind
    check_holder(batch, opened.holder, opened.kind)


def _exchange(exchange: Exchange, route: Route, path: str, spans: Spans, body: bytes) -> Exchange:
    """The exchange of a request of a batch, with the head of the request that brings the batch."""
    mount = route.operation.mounts[0]
    size = len(mount.rstrip("/"))
    inner = Exchange(
        "POST",
        mount.rstrip("/") + path,
        "",
        {**exchange.environ, "CONTENT_TYPE": "application/json"},
        route.dialects[-1],
        exchange.request_id,
        mount,
        {name: (start + size, end + size) for name, (start, end) in spans.items()},
    )
    inner.operation = route.operation.id
    inner.caller, inner.token = exchange.caller, exchange.token
    inner.body_reader = ReceivedBody(Body(body), len(body))
    return inner
