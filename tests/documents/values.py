"""Values of a schema, and near misses of a value: small, and the same in every run."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from tests.documents.document import NotJudged, Part

_MAX_DEPTH = 5
_TEXTS = {
    "date": "2027-01-31",
    "date-time": "2027-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "email": "someone@example.com",
    "byte": "AAAA",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
_SETTINGS = settings(
    database=None, derandomize=True, max_examples=200, suppress_health_check=list(HealthCheck)
)


def values(schema: Part) -> Iterator[Any]:
    """Values that the schema accepts: its required members, then also the others; of a union each
    of the first branches. None where the generator finds no value. Raises NotJudged."""
    seen: list[Any] = []
    for full in (False, True):
        for branch in range(3):
            try:
                value = _value(schema, full, branch, 0)
            except (RecursionError, OverflowError) as error:
                raise NotJudged("nested too deeply, or an endless number") from error
            if value not in seen and schema.accepts(value):
                seen.append(value)
                yield value


def _value(schema: Part, full: bool, branch: int, depth: int) -> Any:
    keywords = _merged(schema, branch, depth)
    if "const" in keywords:
        return keywords["const"]
    if isinstance(keywords.get("enum"), list) and keywords["enum"]:
        return keywords["enum"][branch % len(keywords["enum"])]
    kind = keywords.get("type", "object" if keywords.get("properties") else "string")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    match kind:
        case "object":
            return _object(keywords, full, branch, depth)
        case "array":
            items = keywords.get("items")
            count = max(int(keywords.get("minItems", 0)), int(depth < _MAX_DEPTH))
            item = _value(items, full, branch, depth + 1) if isinstance(items, Part) else "text"
            return [copy.deepcopy(item) for _ in range(min(count, 50))]
        case "integer" | "number":
            return _number(keywords, kind)
        case "boolean":
            return True
        case "null":
            return None
    return _text(keywords)


def _merged(schema: Part, branch: int, depth: int) -> dict[str, Any]:
    """The keywords of a schema with those of its `$ref`, `allOf`, and a branch of its unions.
    `properties` and `items` are parts."""
    if depth > 3 * _MAX_DEPTH or not isinstance(schema.value, dict):
        return {}
    result: dict[str, Any] = {}
    parts = [schema.target()] if isinstance(schema.value.get("$ref"), str) else []
    parts += schema.get("allOf").elements()
    for union in ("oneOf", "anyOf"):
        branches = [b for b in schema.get(union).elements() if b.value != {"type": "null"}]
        parts += branches[branch % len(branches) :][:1] if branches else []
    own = {key: value for key, value in schema.value.items() if key not in ("properties", "items")}
    if isinstance(schema.value.get("properties"), dict):
        own["properties"] = dict(schema.get("properties").items())
    if isinstance(schema.value.get("items"), dict):
        own["items"] = schema.get("items")
    for keywords in [*(_merged(part, branch, depth + 1) for part in parts), own]:
        properties = {**result.get("properties", {}), **keywords.get("properties", {})}
        required = [*result.get("required", ()), *_names(keywords.get("required"))]
        result |= keywords | {"properties": properties, "required": required}
    return result


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _object(keywords: dict[str, Any], full: bool, branch: int, depth: int) -> dict[str, Any]:
    if depth >= 2 * _MAX_DEPTH:
        return {}
    properties, required = keywords["properties"], keywords["required"]
    optional = [name for name in properties if name not in required]
    enough = int(keywords.get("minProperties", 0)) - len(required)
    names = [*required, *(optional if full and depth < 2 else optional[: max(enough, 0)])]
    discriminator = keywords.get("discriminator")
    result = {}
    for name in names:
        schema = properties.get(name)
        is_left_out = not (full and name in required)
        if is_left_out and isinstance(schema, Part) and _is_read_only(schema):
            continue
        result[name] = _value(schema, full, branch, depth + 1) if schema is not None else "text"
    if isinstance(discriminator, dict) and isinstance(discriminator.get("mapping"), dict):
        names = list(discriminator["mapping"])
        result[discriminator.get("propertyName", "")] = names[branch % len(names)]
    return result


def _is_read_only(schema: Part) -> bool:
    value = schema.value if isinstance(schema.value, dict) else {}
    is_reference = isinstance(value.get("$ref"), str)
    return value.get("readOnly") is True or (is_reference and _is_read_only(schema.target()))


def _number(keywords: dict[str, Any], kind: str) -> Any:
    low, high = keywords.get("minimum"), keywords.get("maximum")
    above, below = keywords.get("exclusiveMinimum"), keywords.get("exclusiveMaximum")
    if isinstance(above, int | float) and not isinstance(above, bool):
        low = above
    if isinstance(below, int | float) and not isinstance(below, bool):
        high = below
    number = low + 1 if low is not None and above not in (None, False) else low
    if number is None:
        number = 1 if high is None or high > 1 else high - (1 if below else 0)
    step = keywords.get("multipleOf")
    if isinstance(step, int) and step:
        number = -(-int(number) // step) * step
    return int(number) if kind == "integer" else number


def _text(keywords: dict[str, Any]) -> str:
    least = int(keywords.get("minLength", 0))
    most = int(keywords.get("maxLength", 10**6))
    if isinstance(keywords.get("pattern"), str):
        for candidate in (keywords.get("example"), keywords.get("default")):
            if isinstance(candidate, str):
                return candidate
        return _matching(keywords["pattern"], least, most)
    return _TEXTS.get(str(keywords.get("format")), "text").ljust(min(least, 10**5), "x")[:most]


@cache
def _matching(pattern: str, least: int, most: int) -> str:
    """The simplest text that matches. Raises NotJudged without one."""
    try:
        strategy = st.from_regex(re.compile(pattern, re.ASCII), fullmatch=pattern.startswith("^"))
        return find(strategy, lambda text: least <= len(text) <= most, settings=_SETTINGS)
    except (re.error, HypothesisException, OverflowError, RecursionError) as error:
        raise NotJudged(f"no text of {pattern[:60]!r}") from error


def near_misses(value: Any) -> Iterator[Any]:
    """Copies of a value, each changed at one place, or without one of its members; most break a
    keyword of its schema."""
    for path, child in _places(value):
        for changed in _changes(child):
            yield _with(value, path, changed)
        if path and isinstance(path[-1], str):
            yield _with(value, path, _REMOVED)


_REMOVED = object()


def _changes(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield {**value, "not-in-any-document": {"a": 1}}
        yield "a text"
    elif isinstance(value, list):
        yield [*value, {"not": "an item"}]
        yield {"not": "a list"}
    elif isinstance(value, bool) or value is None:
        yield "neither"
    elif isinstance(value, str):
        yield ""
        yield {"not": "a text"}
        yield value + "\u00e9" * 5000
    else:
        yield -(10**9)
        yield "a number"


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    yield path, value
    if len(path) < 4:
        entries = value.items() if isinstance(value, dict) else ()
        entries = enumerate(value[:1]) if isinstance(value, list) else entries
        for step, child in entries:
            yield from _places(child, (*path, step))


def _with(value: Any, path: tuple[str | int, ...], changed: Any) -> Any:
    if not path:
        return changed
    result = copy.deepcopy(value)
    inner = result
    for step in path[:-1]:
        inner = inner[step]
    if changed is _REMOVED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = changed
    return result
