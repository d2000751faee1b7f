"""Refusal messages: the place in the request, the expected value and the actual one.

Only the most specific error is reported: in a union, the deepest error of the best matching branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.source.problem import path_in
from engine.spec.document.discriminators import GUARD
from engine.spec.schemas.judge_in_child import GuardedValidator
from engine.spec.schemas.narrow_failure import Validator, invalid_parts
from engine.spec.schemas.refusal_sentences import MAX_LENGTH, sentence, union_types
from engine.spec.schemas.schema_validator import SchemaValidator, TooManyErrors
from engine.values.errors import GatewayError
from engine.values.units import format_excerpt

_CODES = {
    "required": "missing_required_parameter",
    "additionalProperties": "unknown_parameter",
    "unevaluatedProperties": "unknown_parameter",
    "falseSchema": "unknown_parameter",
    "type": "invalid_type",
    "enum": "invalid_value",
    "const": "invalid_value",
    "minLength": "string_below_min_length",
    "maxLength": "string_above_max_length",
    "minItems": "array_below_min_length",
    "maxItems": "array_above_max_length",
    "minimum": "below_min_value",
    "exclusiveMinimum": "below_min_value",
    "maximum": "above_max_value",
    "exclusiveMaximum": "above_max_value",
}
_MAX_DEPTH = 20


class Refusal(NamedTuple):
    """The place (`messages[0].role`), a stable code, and the message."""

    param: str
    code: str
    message: str

    def error(self) -> GatewayError:
        """The refusal as the response to a request."""
        return GatewayError(400, self.code, self.message, param=self.param)


class Explanation(NamedTuple):
    """A refusal, and how far the value is from what its schema accepts: the number of its errors,
    of which the refusal is the most specific, `depth` steps into the value."""

    refusal: Refusal
    error_count: int = 1
    depth: int = 0


def explain(validator: Validator, value: object, root: str = "") -> Refusal:
    """The refusal of a `value` that `validator` refuses. `root` is the name of the value."""
    return explain_distance(validator, value, root).refusal


def find_refusal(validator: SchemaValidator, value: object) -> Refusal | None:
    """The refusal of a value; None if `validator` accepts it. Raises GatewayError if to judge it
    takes too long."""
    if validator.may_take_long(value):
        return validator.judge_in_child(lambda: find_refusal(validator, value))
    return None if validator.is_valid_here(value) else explain(validator, value)


def explain_distance(validator: Validator, value: object, root: str = "") -> Explanation:
    """As `explain`, with the distance of the value. Raises GatewayError if to find it takes too
    long."""
    if isinstance(validator, SchemaValidator | GuardedValidator) and validator.may_take_long(value):
        return validator.judge_in_child(lambda: explain_distance(validator, value, root))
    try:
        parts, errors = invalid_parts(validator, value)
    except TooManyErrors:
        return Explanation(_unexplained(root, ", and has too many alternatives to name the place"))
    except (ValueError, RecursionError):  # jsonschema_rs copies values of at most 255 levels
        return Explanation(_unexplained(root, ", and is nested too deeply to name the place"))
    if not parts:
        return Explanation(_unexplained(root))
    best = _best(errors)
    details = best.kind.as_dict()
    name_error = details.get("error") if best.kind.name == "propertyNames" else None
    if "pattern" in details and isinstance(validator, SchemaValidator):
        details["pattern"] = validator.source_pattern(best)
    path = list(path_in(parts[-1].value, best.instance_path))
    for part in reversed(parts):
        path = part.original_path(path)
    depth = len(path)
    if best.kind.name == "required":
        path.append(details["property"])
    unknown = details.get("unexpected") or []
    if best.kind.name in ("additionalProperties", "unevaluatedProperties") and unknown:
        path.append(unknown[0])
    if name_error is not None:
        path.append(name_error.instance)
    param = place(path, root)
    if name_error is not None:
        message = sentence(name_error, name_error.kind.as_dict(), f"the name '{param}'")
    else:
        message = sentence(best, details, param or root or "the request body")
    name = best.kind.name
    if name in ("anyOf", "oneOf") and union_types(details["context"]):
        name = "type"
    refusal = Refusal(param, _CODES.get(name, "invalid_value"), message)
    return Explanation(refusal, len(errors), depth)


def _unexplained(root: str, reason: str = "") -> Refusal:
    subject = root or "the request body"
    message = f"Invalid value: {subject} does not match its schema{reason}."
    return Refusal(root, "invalid_value", message)


def place(path: Sequence[str | int], root: str = "") -> str:
    """`["messages", 0, "role"]` -> `messages[0].role`."""
    text = root
    for step in path[:_MAX_DEPTH]:
        if isinstance(step, str):
            step = format_excerpt(step, MAX_LENGTH)
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def _best(errors: Sequence[Any]) -> Any:
    """The most specific error: the first that is not of a union, else the deepest in a union."""
    best = min(errors, key=lambda error: (_weight(error), len(error.instance_path)))
    while best.kind.name in ("anyOf", "oneOf"):
        branches = [branch for branch in best.kind.as_dict()["context"] if branch]
        branches = [b for b in branches if not _names_another(b)] or branches
        if not branches:
            break
        if len(branches) == 1:
            best = _best(branches[0])
            continue
        candidates = [b for b in branches if not _wrong_kind(b, best)] or branches
        candidates = [b for b in candidates if not _wrong_members(b, best)] or candidates
        candidates = [b for b in candidates if not _wrong_tag(b, best)] or candidates
        if len(candidates) > 1 and all(_wrong_kind(branch, best) for branch in candidates):
            break
        best = _best(max(candidates, key=_depth))
    return best


def _names_another(branch: Sequence[Any]) -> bool:
    """Whether the value's discriminator names another branch of the union."""
    excluded = [error.kind.as_dict()["schema"] for error in branch if error.kind.name == "not"]
    return any(isinstance(schema, dict) and GUARD in schema for schema in excluded)


def _weight(error: Any) -> int:
    return {"anyOf": 1, "oneOf": 1, "not": 1}.get(error.kind.name, 0)


def _wrong_kind(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union refuses the value itself, not one of its members."""
    depth = len(union.instance_path)
    return any(
        error.kind.name in ("type", "const", "enum") and len(error.instance_path) == depth
        for error in branch
    )


def _wrong_members(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union is a map, and refuses every member by its type."""
    value, depth = union.instance, len(union.instance_path)
    refused = {
        error.instance_path[depth]
        for error in branch
        if error.kind.name == "type"
        and len(error.instance_path) == depth + 1
        and "additionalProperties" in error.schema_path
    }
    return isinstance(value, dict) and len(refused) == len(value) > 0


def _wrong_tag(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union has another tag, a field like `type` with one value."""
    depth = len(union.instance_path)
    return any(
        error.kind.name in ("const", "enum") and len(error.instance_path) == depth + 1
        for error in branch
    )


def _depth(branch: Sequence[Any]) -> int:
    return max(len(error.instance_path) for error in branch)
