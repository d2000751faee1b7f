"""Where the requests of a route name their model, checked against what the operation takes."""

from __future__ import annotations

from engine.config.model import Config
from engine.problem import Findings, Path, did_you_mean
from engine.routing import Claim
from engine.spec import expression, paths
from engine.spec.expression import Expression


def model_expression(claim: Claim, config: Config, findings: Findings) -> Expression | None:
    """The route's model expression, checked against what the operation has."""
    said, operation = claim.route, claim.operation
    if not said.model:
        return None
    at: Path = (*said.at, "model")
    try:
        found = expression.parse(said.model)
    except ValueError as error:
        findings.error(config.source, at, "MW305", str(error))
        return None
    names = paths.variables(operation.path)
    if found.place == "path" and found.steps[0] not in names:
        hint = did_you_mean(found.steps[0], names) or "its path has no variables"
        message = f"{operation.id} has no path variable '{found.steps[0]}'"
        findings.error(config.source, at, "MW305", message, hint)
        return None
    if found.place == "body" and not operation.bodies.rules:
        message = f"{operation.id} takes no request body to name a model in"
        findings.error(config.source, at, "MW305", message)
        return None
    if found.place == "body" and len(found.steps) > 1:
        if claim.route.default_model:
            message = (
                "a default model goes with a place at the top of the body: $request.body#/name"
            )
            findings.error(config.source, (*at, "default"), "MW305", message)
        if any("form" in media_type for media_type in operation.bodies.rules):
            message = f"{operation.id} takes a form, whose fields are at its top"
            findings.error(config.source, at, "MW305", message, "write $request.body#/name")
    return found


def repeating(
    claim: Claim, found: Expression | None, config: Config, findings: Findings
) -> tuple[Expression, ...]:
    """The places in a JSON body that repeat the model's name."""
    at: Path = (*claim.route.at, "model", "also")
    if claim.route.also and found is not None and found.place == "body":
        message = "'also' goes with a model in the path, query or a header, not in the body"
        findings.error(config.source, at, "MW305", message, key=True)
        return ()
    takes_json = any("json" in media_type for media_type in claim.operation.bodies.rules)
    return tuple(expression.parse(text) for text in claim.route.also) if takes_json else ()
