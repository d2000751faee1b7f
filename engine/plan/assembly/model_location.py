"""The location in a request that names its model, checked against parameters and body schema."""

from __future__ import annotations

from engine.config.config import Config
from engine.plan.assembly.assign_operations import Claim
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean, near
from engine.spec import expression
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.expression import Expression
from engine.spec.quota_fields import properties, property_names


def model_expression(
    claim: Claim, node: Node, config: Config, findings: Findings
) -> Expression | None:
    """The model expression of a route, checked against its operation, which is at `node` of its
    document. None for a route without one, or with an invalid one."""
    route, operation = claim.route, claim.operation
    if not route.model:
        return None
    at: Path = (*route.at, "model")
    try:
        model = expression.parse(route.model)
    except ValueError as error:
        findings.error(config.source, at, "MW305", str(error))
        return None
    names = path_templates.variables(operation.path)
    if model.location == "path" and model.steps[0] not in names:
        hint = did_you_mean(model.steps[0], names) or "its path has no variables"
        message = f"{operation.id} has no path variable '{model.steps[0]}'"
        findings.error(config.source, at, "MW305", message, hint)
        return None
    if model.location == "body" and not operation.bodies.media_types:
        message = f"{operation.id} has no request body that could name a model"
        findings.error(config.source, at, "MW305", message)
        return None
    if model.location == "body":
        _check_member(claim, model, at, node, config, findings)
    if model.location == "body" and len(model.steps) > 1:
        if claim.route.default_model:
            message = "a default model needs a top-level member of the body: $request.body#/name"
            findings.error(config.source, (*at, "default"), "MW305", message)
        if any("form" in media_type for media_type in operation.bodies.media_types):
            message = f"{operation.id} accepts a form, which has only top-level fields"
            findings.error(config.source, at, "MW305", message, "write $request.body#/name")
    return _documented(model, claim)


def _documented(model: Expression, claim: Claim) -> Expression:
    """A location in the body with the documented names of members that have two spellings."""
    spellings = claim.operation.bodies.spellings
    if spellings is None or model.location != "body":
        return model
    return expression.of_body(spellings.steps(model.steps))


def _check_member(
    claim: Claim, model: Expression, at: Path, node: Node, config: Config, findings: Findings
) -> None:
    """Note a member of the body that the schemas do not name, although they name others.

    It is an error only if they have a similar name: a document need not name all members.
    """
    schemas = [media.get("schema") for _, media in node.get("requestBody").get("content").items()]
    for depth, step in enumerate(model.steps):
        if any(step in property_names(schema) for schema in schemas):
            if depth + 1 < len(model.steps):
                pairs = [pair for schema in schemas for pair in properties(schema)]
                schemas = [child for name, child in pairs if name == step]
            continue
        members = dict(pair for schema in schemas for pair in properties(schema))
        if not members or step.isdigit() or step == "*":
            return
        place = ".".join(model.steps[: depth + 1])
        message = f"no schema of the request body of {claim.operation.id} names '{place}'"
        close = near(step, members)
        level = Level.WARNING if close is None else Level.ERROR
        hint = did_you_mean(step, members)
        findings.note(config.source, at, level, "MW305", message, hint)
        return


def copies(
    claim: Claim, model: Expression | None, config: Config, findings: Findings
) -> tuple[Expression, ...]:
    """The locations in a JSON body that may repeat the name of the model (`also`)."""
    at: Path = (*claim.route.at, "model", "also")
    if claim.route.model_copies and model is not None and model.location == "body":
        message = "'also' needs a model in the path, the query or a header, not in the body"
        findings.error(config.source, at, "MW305", message, key=True)
        return ()
    bodies = claim.operation.bodies
    takes_json = any("json" in name for name in bodies.media_types) or any(
        "json" in media_range.rules for media_range in bodies.ranges.values()
    )
    if not takes_json:
        return ()
    return tuple(_documented(expression.parse(text), claim) for text in claim.route.model_copies)
