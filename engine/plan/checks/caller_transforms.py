"""Checks of `transform`: its templates, names and conflicts; and on the caller's side, of policies
and models, what it edits, against the documents of the operations: errors for requests, warnings
for responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.config.upstreams import UpstreamConfig
from engine.plan.checks.body_edits import Bodies, BodyEditCheck, Rules, note_faults, note_model
from engine.plan.plan import ServedConfig
from engine.plan.route import Route
from engine.policies import transform_of
from engine.source.problem import Findings, Level, Path
from engine.spec.bodies.response_schemas import edited_schemas
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter
from engine.spec.parameters.query_string import Query
from engine.spec.schemas.refusal_sentences import without_value
from engine.spec.spec import Specification
from engine.transforms.compile import compile_transform
from engine.transforms.faults import (
    NO_PLACE,
    REQUIRED,
    RESPONSE_NO_PLACE,
    RESPONSE_REQUIRED,
    RESPONSE_UNFIT,
    UNFIT,
    Faults,
)
from engine.transforms.template import Template
from engine.transforms.transform import RequestEdits, Transform, body_schemas, has_unknown_body
from engine.values.errors import GatewayError

REQUESTS = Rules("request", NO_PLACE, UNFIT, REQUIRED, Level.ERROR)
RESPONSES = Rules(
    "response",
    RESPONSE_NO_PLACE,
    RESPONSE_UNFIT,
    RESPONSE_REQUIRED,
    Level.WARNING,
    f"if responses do have it, write `# modelway: ignore {RESPONSE_NO_PLACE}`",
)


class DocumentedOperation(Struct, frozen=True):
    """An operation that a transform edits: the bodies of its requests and of its responses, its
    parameters, and where it names the model."""

    id: str
    requests: Bodies
    responses: Bodies
    parameters: Sequence[Parameter] = ()
    models: Sequence[Expression] = ()


def check_caller_transforms(served: ServedConfig, findings: Findings) -> None:
    """Note edits of policies and models that an operation does not allow."""
    config, by_id = served.config, {route.operation.id: route for route in served.routes}

    @cache
    def documented(operation: str) -> DocumentedOperation:
        route = by_id[operation]
        return documented_route(route, served.specifications[route.operation.spec])

    scopes: dict[Path, tuple[TransformConfig, list[DocumentedOperation]]] = {}
    for route in (each for each in served.routes if each.answer is None):
        for policy in route.policies:
            for transform in transform_of(policy):
                scopes.setdefault(transform.at, (transform, []))[1].append(
                    documented(route.operation.id)
                )
    for model in (model for model in config.models.values() if model.transform):
        ids = [operation.id for operation in served.operations.of(model.name)]
        for transform in model.transform:
            scopes[transform.at] = (transform, [documented(id_) for id_ in ids if id_ in by_id])
    for transform, operations in scopes.values():
        compiled = compile_transform(transform, upstream=False, faults=Faults())
        for rules, faults in _faults(compiled, operations):
            note_faults(transform, faults, rules.level, config, findings)


def documented_route(route: Route, specification: Specification) -> DocumentedOperation:
    """The operation of a route as its document describes it. A session of a WebSocket has no bodies
    that are edited."""
    documented = documented_operation(route.operation, specification)
    if route.websocket is not None:
        no_bodies = replace(documented.requests, schemas=(), is_open=False)
        documented = replace(documented, requests=no_bodies, responses=no_bodies)
    if route.model is None:
        return documented
    models = (route.model, *route.model_copies)
    return replace(documented, requests=replace(documented.requests, models=models), models=models)


def documented_operation(operation: Operation, specification: Specification) -> DocumentedOperation:
    """An operation as its document describes it."""
    node = specification.node(operation)
    schemas, is_open = body_schemas(node), has_unknown_body(node)
    requests = Bodies(operation.id, schemas, specification, is_open=is_open)
    schemas, is_open = edited_schemas(node)
    name = f"the response of {operation.id}"
    responses = Bodies(name, schemas, specification, are_responses=True, is_open=is_open)
    return DocumentedOperation(operation.id, requests, responses, operation.parameters)


def _faults(
    transform: Transform, served: Sequence[DocumentedOperation]
) -> Iterator[tuple[Rules, Faults]]:
    faults = Faults()
    request = transform.request
    requests = [operation.requests for operation in served]
    BodyEditCheck(requests, REQUESTS, faults).run(request.body)
    for operation in served:
        check_parameters(request, operation, REQUESTS, faults)
        for expression in operation.models:
            if expression.location in ("query", "header"):
                part = request.query if expression.location == "query" else request.header
                names = {*part.remove, *part.set, *part.rename, *part.rename.values()}
                if expression.steps[0] in names:
                    at = ("request", expression.location)
                    note_model(expression.steps[0], at, operation.id, faults)
    yield REQUESTS, faults
    faults = Faults()
    responses = [operation.responses for operation in served]
    BodyEditCheck(responses, RESPONSES, faults).run(transform.response.body)
    yield RESPONSES, faults


def check_parameters(
    request: RequestEdits, operation: DocumentedOperation, rules: Rules, faults: Faults
) -> None:
    """Note constant values that a declared parameter refuses, and required ones taken away."""
    query, header = request.query, request.header
    edits = {
        "query": ({*query.remove, *query.rename}, {"default": query.default, "set": query.set}),
        "header": ({*header.remove, *header.rename}, {"add": header.add, "set": header.set}),
    }
    for parameter in operation.parameters:
        if parameter.location not in edits:
            continue
        removals, values = edits[parameter.location]
        at = ("request", parameter.location)
        name = parameter.name.lower() if parameter.location == "header" else parameter.name
        if rules.required and parameter.required and name in removals:
            message = f"'{parameter.name}' is required by {operation.id}"
            faults.add(at, rules.required, message, "remove this edit")
        for kind, templates in values.items():
            if reason := _refusal(parameter, templates.get(name)):
                message = f"the value does not fit {operation.id}: {reason}"
                faults.add((*at, kind, name), rules.unfit, message)


def _refusal(parameter: Parameter, template: Template | None) -> str:
    """Why a parameter refuses the constant value of a template; "" if it does not."""
    if template is None or template.constant is None:
        return ""
    text = template.constant
    source = f"{quote(parameter.name, safe='')}={quote(text, safe='')}"
    try:
        parameter.check(Query.parse(source) if parameter.location == "query" else text)
    except GatewayError as error:
        return without_value(error.message)
    return ""


def check_transforms(config: Config, findings: Findings) -> None:
    """Note the faults of the transforms of upstreams, targets and models."""
    for upstream in config.upstreams.values():
        _check(upstream.transform, upstream, config, findings)
    targets = [target for model in config.models.values() for target in model.targets]
    targets += [target for route in config.routes for target in route.to]
    for target in targets:
        _check(target.transform, config.upstreams.get(target.upstream), config, findings)
    for model in config.models.values():
        check_transforms_of_callers(model.transform, config, findings)


def check_transforms_of_callers(
    configs: Iterable[TransformConfig], config: Config, findings: Findings
) -> None:
    """Note the faults of transforms of the caller's side, whose options match the schema."""
    _check(configs, None, config, findings, upstream_side=False)


def _check(
    configs: Iterable[TransformConfig],
    upstream: UpstreamConfig | None,
    config: Config,
    findings: Findings,
    *,
    upstream_side: bool = True,
) -> None:
    configured = upstream.credentials if upstream is not None else ()
    credentials = [("header", credential.header) for credential in configured if credential.header]
    credentials += [
        ("query", credential.parameter) for credential in configured if credential.parameter
    ]
    for transform in configs:
        faults = Faults()
        compile_transform(transform, upstream=upstream_side, faults=faults, credentials=credentials)
        for fault in faults.found:
            at = (*transform.at, *fault.at)
            findings.error(config.source, at, fault.code, fault.message, fault.hint, key=fault.key)
