"""Validates events of the client against tables; reports the first error and its place.

A shape is a JSON type, a frozenset of the strings allowed, a number that it must be, `[shape]`
for an array, a dict for an object without other members (a final `*` marks a required one),
a tuple of alternatives, None for null, or ANY.
"""

from __future__ import annotations

from typing import Any

ANY: Any = object()

_TYPE_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "an array",
    type(None): "null",
}


class Invalid(Exception):
    """An invalid event: `code` and `param` of the error event."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param


def check(value: Any, shape: Any, at: str) -> None:
    """Raises Invalid unless `value`, which stands at `at`, has the shape."""
    if shape is ANY:
        return
    if isinstance(shape, tuple):
        _check_alternatives(value, shape, at)
    elif isinstance(shape, frozenset):
        _check_kind(value, str, at)
        if value not in shape:
            allowed = ", ".join(f"'{word}'" for word in sorted(shape))
            raise Invalid("invalid_value", f"'{at}' must be one of {allowed}.", at)
    elif isinstance(shape, list):
        _check_kind(value, list, at)
        for number, element in enumerate(value):
            check(element, shape[0], f"{at}[{number}]")
    elif isinstance(shape, dict):
        _check_kind(value, dict, at)
        _check_members(value, shape, at)
    elif isinstance(shape, int):
        _check_kind(value, int, at)
        if value != shape:
            raise Invalid("invalid_value", f"'{at}' must be {shape}.", at)
    else:
        _check_kind(value, type(None) if shape is None else shape, at)


def _check_members(value: dict[str, Any], shape: dict[str, Any], at: str) -> None:
    lead = f"{at}." if at else ""
    members = {name.rstrip("*"): below for name, below in shape.items()}
    for name in value:
        if name not in members:
            raise Invalid("unknown_parameter", f"There is no '{lead}{name}'.", lead + name)
    for name in shape:
        if name.endswith("*") and name[:-1] not in value:
            place = lead + name[:-1]
            raise Invalid("missing_required_parameter", f"'{place}' is required.", place)
    for name, below in value.items():
        check(below, members[name], lead + name)


def _check_alternatives(value: Any, shapes: tuple[Any, ...], at: str) -> None:
    """One alternative must match; the error reported is of the one most like the value."""
    errors = []
    for shape in shapes:
        try:
            return check(value, shape, at)
        except Invalid as invalid:
            errors.append((_likeness(value, shape), len(invalid.param or ""), invalid))
    raise max(errors, key=lambda error: error[:2])[2]


def _likeness(value: Any, shape: Any) -> int:
    """How many of the members that distinguish objects match this shape."""
    if not (isinstance(value, dict) and isinstance(shape, dict)):
        return 0
    pairs = [(value.get(name), shape.get(f"{name}*")) for name in ("type", "role")]
    return sum(isinstance(words, frozenset) and word in words for word, words in pairs)


def _check_kind(value: Any, kind: type, at: str) -> None:
    kinds = (int, float) if kind is float else kind
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise Invalid("invalid_type", f"'{at}' must be {_TYPE_NAMES[kind]}.", at)
