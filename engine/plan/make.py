"""PLAN: a config and its documents -> a Plan of Routes, or every problem at once.

All names are resolved here, so a Plan can be built and served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path as FilePath

from engine import dialects
from engine.config.config import Config
from engine.config.load import load, load_file
from engine.config.routes import Policy, WebSocket
from engine.dialects import Dialect
from engine.edge import answers
from engine.edge.answers.own_answer import OwnAnswer
from engine.plan import model_location, operations
from engine.plan.admission_checks import check_admission
from engine.plan.assign import Claim, assign
from engine.plan.choose_checks import check_choices
from engine.plan.connections import check_connections
from engine.plan.denials import check_denials
from engine.plan.model_checks import check_operations
from engine.plan.names import check_names
from engine.plan.paths import check_paths
from engine.plan.provider_checks import check_providers
from engine.plan.route import Plan, PlanResult, Route, model_operations
from engine.plan.transform_proof import prove_transforms
from engine.plan.transforms import check_transforms
from engine.plan.upstream_proof import prove_upstream_transforms
from engine.policies import Guards, guards
from engine.relay.request_headers import NEVER_SENT
from engine.source.failure_place import reading
from engine.source.files import record_reads
from engine.source.problem import Findings, Level, place_of
from engine.spec import path_templates, security
from engine.spec.document.cache_folder import folder_of
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.quota_fields import takes_of
from engine.spec.spec import Specification
from engine.upstream import choose
from engine.values.gc_pause import no_collection
from engine.values.usage import Takes


def make_plan(
    file: FilePath,
    environ: Mapping[str, str],
    text: str | None = None,
    overlays: Sequence[FilePath] = (),
) -> PlanResult:
    """Read gateway.yaml, its overlays and the files that they name, and make the plan. Opens no
    socket."""
    with no_collection(), record_reads() as files:
        planned = _make(file, environ, text, overlays)
    planned.files = files
    return planned


def _make(
    file: FilePath, environ: Mapping[str, str], text: str | None, overlays: Sequence[FilePath]
) -> PlanResult:
    planned = PlanResult()
    findings = planned.findings
    if text is None:
        config, _ = load_file(file, environ, findings, overlays)
    else:
        config, _ = load(text, str(file), file.absolute().parent, environ, findings, overlays)
    if config is None:
        return planned
    planned.config = config
    planned.specifications = operations.read_all(config, findings, folder_of(environ))
    check_names(config, findings)
    check_connections(config, findings)
    check_providers(config, findings)
    check_transforms(config, findings)
    routes = [
        _placed_route(claim, config, planned.specifications, findings)
        for claim in assign(config, planned.specifications, findings)
    ]
    resolved = tuple(route for route in routes if route is not None)
    check_paths(resolved, config, findings)
    check_admission(config, resolved, findings)
    check_denials(resolved, config, planned.specifications, findings)
    by_model = tuple(route.by_model for route in resolved if route.model is not None)
    defaults = [
        (route.default_model, route.by_model, (*route.at[:2], "model", "default"))
        for route in resolved
        if route.default_model
    ]
    operations_of_models = cache(partial(model_operations, config, by_model))
    check_operations(config, operations_of_models, defaults, planned.specifications, findings)
    if not findings.errors:
        of_documents = (resolved, operations_of_models(), config, planned.specifications, findings)
        prove_transforms(*of_documents)
        prove_upstream_transforms(*of_documents)
        check_choices(*of_documents)
    for specification in planned.specifications.values():
        specification.finish_compiling()
    if not findings.errors:
        routes_served = tuple(_with_guards(resolved, config))
        planned.plan = Plan(
            config, routes_served, planned.specifications, by_model, operations_of_models()
        )
    return planned


def _with_guards(routes: Iterable[Route], config: Config) -> Iterator[Route]:
    """The routes with their compiled policies, and whether the choice of a target reads the
    body."""
    models_read_body = any(choose.reads_body(model.choose) for model in config.models.values())
    has_choices = any(
        choice.member for upstream in config.upstreams.values() for choice in upstream.choices
    )
    global_guards = guards(config.policies, config.currency)
    distinct: dict[Takes, Takes] = {}  # thousands of routes have equal ones
    compiled = {(None, *_identities(config.policies)): global_guards}
    for route in routes:
        spellings = route.operation.bodies.spellings
        key = (None if spellings is None else id(spellings), *_identities(route.policies))
        if key not in compiled:
            compiled[key] = guards(route.policies, config.currency, spellings)
        yield replace(
            route,
            guards=compiled[key],
            takes=distinct.setdefault(route.takes, route.takes),
            has_choices=has_choices and route.model is not None,
            chosen_by_body=(
                choose.reads_body(route.choose) if route.model is None else models_read_body
            ),
        )


def _identities(policies: Sequence[Policy]) -> tuple[int, ...]:
    """A key for policies: the operations of one entry of the config have the same objects."""
    return tuple(map(id, policies))


def _placed_route(
    claim: Claim,
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> Route | None:
    """As `_route`; the place of its operation is noted on exceptions."""
    operation = claim.operation
    with reading(lambda: place_of(operation.source, operation.at, key=True)):
        return _route(claim, config, specifications, findings)


def _route(
    claim: Claim,
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> Route | None:
    """The Route for an operation; None if a name cannot be resolved."""
    operation, route = claim.operation, claim.route
    spec = config.specs[operation.spec]
    node = specifications[operation.spec].node(operation)
    model = model_location.model_expression(claim, node, config, findings)
    answer = answers.get(route.answer)
    if route.answer and answer is None:
        return None
    in_every_dialect = answer is not None and answer.in_every_dialect
    of_callers = _dialects(spec.dialect, in_every_dialect=in_every_dialect)
    _note_unsent(operation, findings)
    return Route(
        operation=operations.compile_for_route(claim, config, specifications, findings),
        dialects=of_callers,
        carriers=security.read_carriers(list(spec.token)) or operation.carriers,
        model=model,
        default_model=route.default_model,
        also=model_location.copies(claim, model, config, findings),
        to=route.to,
        choose=route.choose,
        answer=answer,
        anonymous=route.anonymous,
        validate=route.validate,
        policies=config.policies + route.policies,
        guards=Guards(),  # compiled when all policies are valid
        wide=_wide_variables(operation, model, answer),
        takes=takes_of(node, of_callers[-1]),
        websocket=(route.websocket or WebSocket()) if operation.websocket else None,
        unknown_fields=route.unknown_fields,
        readonly=route.readonly,
        response_validators=operations.response_validators(claim, specifications, findings),
        at=claim.at,
        priority=route.priority,
        hedge=route.hedge,
    )


def _wide_variables(
    operation: Operation, model: Expression | None, answer: OwnAnswer | None
) -> tuple[str, ...]:
    """The variables of a path that may have slashes."""
    if answer is not None and answer.has_wide_variables:
        return tuple(path_templates.variables(operation.path))
    of_model = [model.steps[0]] if model is not None and model.place == "path" else []
    return tuple({*of_model, *operation.wide})


@cache
def _dialects(name: str, *, in_every_dialect: bool) -> tuple[Dialect, ...]:
    """The dialects of callers of a path whose operation is of the dialect `name`, that one last."""
    own = dialects.get(name if name in dialects.names() else dialects.PLAIN)
    others = [each for each in dialects.by_request() if each is not own]
    return (*(others if in_every_dialect else ()), own)


def _note_unsent(operation: Operation, findings: Findings) -> None:
    """Warn of parameters that are checked but never forwarded, as they may have the caller's
    token."""
    for parameter in operation.parameters:
        unsent_header = parameter.place == "header" and parameter.name.lower() in NEVER_SENT
        if unsent_header or parameter.place == "cookie":
            subject = f"{parameter.place} parameter '{parameter.name}' of {operation.id}"
            message = f"{subject} is checked, but never forwarded"
            findings.note(operation.source, operation.at, Level.WARNING, "MW319", message, key=True)
