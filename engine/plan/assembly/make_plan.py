"""PLAN: a config and its documents -> a Plan of Routes, or every problem at once.

All names are resolved here, so a Plan can be built and served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path as FilePath

from msgspec.structs import replace

from engine import dialects
from engine.config.config import Config
from engine.config.load import load, load_file
from engine.config.models import Model
from engine.config.routes import Policy, WebSocket
from engine.dialects import Dialect
from engine.edge import answers
from engine.edge.answers.own_answer import OwnAnswer
from engine.plan.assembly import documents, model_location
from engine.plan.assembly.assign_operations import Claim, assign
from engine.plan.assembly.mcp_servers import read_servers
from engine.plan.assembly.tokenizers import load_tokenizers
from engine.plan.checks.caller_transforms import check_caller_transforms, check_transforms
from engine.plan.checks.connections import check_connections, check_webhooks
from engine.plan.checks.known_names import check_names
from engine.plan.checks.models import check_operations, check_rules
from engine.plan.checks.objects import check_objects, object_facts
from engine.plan.checks.policies import check_deny, check_guards
from engine.plan.checks.providers import check_providers
from engine.plan.checks.regions import check_regions
from engine.plan.checks.routes import check_client_secrets, check_paths, check_responses
from engine.plan.checks.sign_in import check_sign_in
from engine.plan.checks.targets import check_admission, check_choices, check_mirrors
from engine.plan.checks.tools import check_changes
from engine.plan.checks.upstream_transforms import check_upstream_transforms
from engine.plan.model_tools import check_models
from engine.plan.plan import NamedRoute, Plan, PlanResult, ServedConfig, model_operations
from engine.plan.route import Route
from engine.plan.tool_servers import check_servers, tool_upstreams
from engine.policies import Guards, guards
from engine.process.gc_pause import no_collection
from engine.relay.request_headers import NEVER_SENT
from engine.source.failure_place import reading
from engine.source.files import record_reads
from engine.source.problem import Findings, Level, place_of
from engine.spec import security
from engine.spec.document import path_templates
from engine.spec.document.cache_folder import folder_of
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.quota_fields import takes_of
from engine.spec.security import Carrier
from engine.spec.spec import Specification
from engine.upstream import choose
from engine.upstream.conditions.compile import compile_conditions
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
        plan_result = _make(file, environ, text, overlays)
    plan_result.files = files
    return plan_result


def _make(
    file: FilePath, environ: Mapping[str, str], text: str | None, overlays: Sequence[FilePath]
) -> PlanResult:
    plan_result = PlanResult()
    findings = plan_result.findings
    if text is None:
        config, _ = load_file(file, environ, findings, overlays)
    else:
        config, _ = load(text, str(file), file.absolute().parent, environ, findings, overlays)
    if config is None:
        return plan_result
    plan_result.config = config
    plan_result.specifications = documents.read_all(config, findings, folder_of(environ))
    check_names(config, findings)
    check_connections(config, findings)
    check_webhooks(config, findings)
    check_providers(config, findings)
    check_responses(config, findings)
    check_transforms(config, findings)
    plan_result.plan = _plan(config, plan_result.specifications, findings)
    return plan_result


def _plan(
    config: Config, specifications: dict[str, Specification], findings: Findings
) -> Plan | None:
    """Resolve the routes and check them; None if the config has errors."""
    routes = _resolved_routes(config, specifications, findings)
    check_paths(routes, config, findings)
    check_objects(config, specifications, findings)
    check_admission(config, routes, findings)
    check_client_secrets(config, routes, findings)
    check_sign_in(config, routes, findings)
    check_deny(routes, config, specifications, findings)
    check_guards(routes, config, findings)
    models = (route.by_model for route in routes if route.model is not None)
    by_model = tuple(dict.fromkeys(models))  # an operation may have a route for each host
    operations = cache(partial(model_operations, config, by_model))
    check_operations(config, operations, routes, specifications, findings)
    check_regions(config, routes, operations, findings)
    tools = read_servers(config, specifications, routes, findings)
    check_changes(tools, config, specifications, findings)
    check_servers(config, findings)
    check_models(config, routes, operations, tools, findings)
    if not findings.errors:
        served = ServedConfig(config, routes, operations(), specifications)
        check_caller_transforms(served, findings)
        check_upstream_transforms(served, findings)
        check_choices(served, findings)
        check_rules(served, findings)
        check_mirrors(served, findings)
    tokenizers = load_tokenizers(config, findings)
    for specification in specifications.values():
        specification.finish_compiling()
    if findings.errors:
        return None
    with_guards = tuple(_with_guards(routes, config))
    return Plan(
        *(config, with_guards, specifications, by_model, operations(), tokenizers),
        *(_with_routes(tools, with_guards), tool_upstreams(config)),
    )


def _with_routes(
    tools: Mapping[str, Sequence[NamedRoute]], routes: Sequence[Route]
) -> dict[str, tuple[NamedRoute, ...]]:
    """The tools with their routes as they are served."""
    by_name = {route.name: route for route in routes} if tools else {}
    return {
        server: tuple(replace(t, route=by_name[t.route.name]) for t in listed)
        for server, listed in tools.items()
    }


def _resolved_routes(
    config: Config, specifications: Mapping[str, Specification], findings: Findings
) -> tuple[Route, ...]:
    """The routes of operations whose names can be resolved. On exceptions, the place of the
    operation is noted."""
    routes = []
    for claim in assign(config, specifications, findings):
        operation = claim.operation
        with reading(partial(place_of, operation.source, operation.at, key=True)):
            routes.append(_route(claim, config, specifications, findings))
    return tuple(route for route in routes if route is not None)


def _with_guards(routes: Iterable[Route], config: Config) -> Iterator[Route]:
    """The routes with their compiled policies, and whether the choice of a target reads the
    body."""
    models_read_body = any(map(_reads_body, config.models.values()))
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


def _reads_body(model: Model) -> bool:
    """Whether the choice of a target of a model needs the parsed body."""
    by_rule = (compile_conditions(rule.conditions).reads_body for rule in model.when)
    return any(by_rule) or any(map(choose.reads_body, model.choices))


def _identities(policies: Sequence[Policy]) -> tuple[int, ...]:
    """A key for policies: the operations of one entry of the config have the same objects."""
    return tuple(map(id, policies))


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
    is_own = answer is not None or route.respond is not None
    of_callers = _dialects(spec.dialect, in_every_dialect=in_every_dialect)
    _note_unsent(operation, findings)
    carriers = security.read_carriers(list(spec.token)) or operation.carriers
    compiled = documents.compile_for_route(claim, config, specifications, findings)
    return Route(
        operation=_without_tokens(compiled, carriers),
        dialects=of_callers,
        carriers=carriers,
        model=model,
        default_model=route.default_model,
        model_copies=model_location.copies(claim, model, config, findings),
        to=route.to,
        choose=route.choose,
        answer=answer,
        allows_anonymous=route.allows_anonymous,
        validate=route.validate,
        policies=config.policies + route.policies,
        guards=Guards(),  # compiled when all policies are valid
        slash_variables=_slash_variables(operation, model, answer),
        takes=takes_of(node, of_callers[-1]),
        websocket=(route.websocket or WebSocket()) if operation.websocket else None,
        unknown_fields=route.unknown_fields,
        readonly=route.readonly,
        response_validators=documents.response_validators(claim, specifications, findings),
        at=claim.at,
        priority=route.priority,
        hedge=route.hedge,
        objects=None if is_own else object_facts(operation, node, spec, config, findings),
        hosts=claim.hosts,
        respond=route.respond,
        regions=route.regions,
    )


def _without_tokens(operation: Operation, carriers: Iterable[Carrier]) -> Operation:
    """The operation without the parameters in which callers send their token: some documents
    declare these beside their security scheme, as required. They are removed from requests, and
    the upstream gets its own credential."""
    parameters = tuple(
        parameter
        for parameter in operation.parameters
        if not security.is_carrier(carriers, parameter.location, parameter.name)
    )
    if len(parameters) == len(operation.parameters):
        return operation
    return replace(operation, parameters=parameters)


def _slash_variables(
    operation: Operation, model: Expression | None, answer: OwnAnswer | None
) -> tuple[str, ...]:
    """The variables of a path that may have slashes."""
    if answer is not None and answer.has_slash_variables:
        return tuple(path_templates.variables(operation.path))
    of_model = [model.steps[0]] if model is not None and model.location == "path" else []
    return tuple({*of_model, *operation.slash_variables})


@cache
def _dialects(name: str, *, in_every_dialect: bool) -> tuple[Dialect, ...]:
    """The dialects of callers of a path whose operation is of the dialect `name`, that one last."""
    dialect = dialects.get(name if name in dialects.names() else dialects.PLAIN)
    others = [each for each in dialects.by_request() if each is not dialect]
    return (*(others if in_every_dialect else ()), dialect)


def _note_unsent(operation: Operation, findings: Findings) -> None:
    """Warn of parameters that are checked but never forwarded, as they may have the caller's
    token."""
    for parameter in operation.parameters:
        unsent_header = parameter.location == "header" and parameter.name.lower() in NEVER_SENT
        if unsent_header or parameter.location == "cookie":
            subject = f"{parameter.location} parameter '{parameter.name}' of {operation.id}"
            message = f"{subject} is checked, but never forwarded"
            findings.note(operation.source, operation.at, Level.WARNING, "MW319", message, key=True)
