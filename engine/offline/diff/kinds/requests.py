"""Requests: parameters and bodies of operations served on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.flat_schema import Part, Shape, shape_of
from engine.offline.diff.operation_pairs import (
    Pair,
    breaking,
    difference,
    media,
    of_type,
    pairs,
    parameters,
    renamed_variables,
    schema_part,
)
from engine.offline.diff.schema_comparison import Walk
from engine.spec.document.node import Node

_STYLES = {"query": "form", "cookie": "form", "path": "simple", "header": "simple"}


def differences(old: Side, new: Side) -> Iterator[Difference]:
    """What callers may no longer send; and what they may send now, where both sides validate."""
    walks: dict[tuple[bool, bool], Walk] = {}
    for pair in pairs(old, new):
        key = pair.is_validated, pair.names_only
        walk = walks.setdefault(key, Walk(of_responses=False, names_only=pair.names_only))
        for each in (*_parameters(pair, walk), *_body(pair, walk)):
            if each.level is not Effect.WEAKER or pair.is_validated:
                yield each


def _parameters(pair: Pair, walk: Walk) -> Iterator[Difference]:
    before = parameters(pair.old, renamed_variables(pair))
    after = parameters(pair.new)
    for (location, name), node in after.items():
        was = before.get((location, name))
        required, needed = _is_required(node), was is not None and _is_required(was)
        if required and not needed:
            message = f"{location} parameter '{name}' is required now"
            yield breaking(pair, "parameter-required", node, message)
        if needed and not required:
            message = f"{location} parameter '{name}' may be left out now"
            yield difference(pair, Effect.WEAKER, "parameter-optional", node, message)
        if was is not None:
            yield from _parameter(pair, walk, was, node, f"{location} parameter {name}")
    for (location, name), was in before.items():
        if (location, name) not in after:
            is_guard = _is_required(was) or not _takes_any_text(_schema(was))
            message = f"{location} parameter '{name}' is no longer in the document"
            message += ": it is no longer checked" if is_guard else ""
            level = Effect.WEAKER if is_guard else Effect.CHANGED
            yield difference(pair, level, "parameter-removed", None, message)


def _parameter(pair: Pair, walk: Walk, was: Node, now: Node, where: str) -> Iterator[Difference]:
    yield from _schemas(pair, walk, _schema(was), _schema(now), where, now)
    styles = [_style(node) for node in (was, now)]
    if styles[0] != styles[1] and ("" not in styles or now.has("content") or was.has("content")):
        message = f"{where} is written as {styles[1] or 'text'}, was {styles[0] or 'text'}"
        yield breaking(pair, "parameter-style", now, message)
    empty = [node.value.get("allowEmptyValue") is True for node in (was, now)]
    if empty[0] and not empty[1]:
        yield breaking(pair, "constraint-changed", now, f"{where} may no longer be empty")
    elif empty[1] and not empty[0]:
        message = f"{where} may be empty now"
        yield difference(pair, Effect.WEAKER, "constraint-loosened", now, message)


def _is_required(parameter: Node) -> bool:
    return parameter.value.get("required") is True or parameter.text("in") == "path"


def _schema(parameter: Node) -> Part:
    """The schema of a parameter, which may be that of its only media type."""
    contents = [content for _, content in parameter.get("content").items()]
    return schema_part(contents[0] if contents else parameter)


def _takes_any_text(schema: Part) -> bool:
    if not schema:
        return True
    shape = shape_of(schema)
    is_text = shape.types is None or "string" in shape.types
    return is_text and replace(shape, types=None) == Shape(shape.node)


def _style(parameter: Node) -> str:
    """The serialization of a parameter whose value may be a list or an object."""
    names = [name for name, _ in parameter.get("content").items()]
    if names:
        return names[0]
    schema = _schema(parameter)
    types = shape_of(schema).types if schema else None
    if types is None or not types & {"array", "object"}:
        return ""
    style = parameter.text("style") or _STYLES.get(parameter.text("in"), "")
    explode = parameter.value.get("explode", style == "form")
    return f"style {style}, explode {str(explode).lower()}"


def _body(pair: Pair, walk: Walk) -> Iterator[Difference]:
    was, now = pair.old.get("requestBody"), pair.new.get("requestBody")
    had, has = isinstance(was.value, dict), isinstance(now.value, dict)
    if had and not has:
        yield breaking(pair, "body-removed", None, "no longer accepts a request body")
    if not has:
        return
    needed = had and was.value.get("required") is True
    required = now.value.get("required") is True
    if required and not needed:
        yield breaking(pair, "body-required", now, "the request body is required now")
    if needed and not required:
        message = "the request body may be left out now"
        yield difference(pair, Effect.WEAKER, "body-optional", now, message)
    if not had:
        message = "accepts a request body now"
        yield difference(pair, Effect.WEAKER, "body-added", now, message)
        return
    yield from _contents(pair, walk, media(was), media(now), now)


def _contents(
    pair: Pair, walk: Walk, before: dict[str, Part], after: dict[str, Part], body: Node
) -> Iterator[Difference]:
    for name, schema in before.items():
        partner = of_type(name, after)
        if partner is None:
            yield breaking(pair, "media-type-removed", body, f"no longer accepts {name}")
        else:
            yield from _schemas(pair, walk, schema, partner, "", body)
    for name, schema in after.items():
        if name in before:
            continue
        partner = of_type(name, before)
        if partner is None:
            message = f"accepts {name} now"
            yield difference(pair, Effect.WEAKER, "media-type-added", body, message)
        else:
            yield from _schemas(pair, walk, partner, schema, "", body)


def _schemas(
    pair: Pair, walk: Walk, was: Part, now: Part, where: str, node: Node
) -> Iterator[Difference]:
    for change in walk.compare_any(was, now, where, node):
        level = Effect.WEAKER if change.is_weaker else Effect.BREAKING
        yield difference(pair, level, change.kind, change.node, change.message)
