"""Requests with each member of an SDK's types, one at a time.

A type is a TypedDict, a union, a list, a literal or a scalar. Values are made up. Each member of
each TypedDict inside a request is tried once, at its first place.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import (
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import TypeAliasType, is_typeddict

Json = dict[str, Any]

VALUES: dict[str, tuple[Any, Any]] = {
    "budget_tokens": (2000, 9000),
    "max_tokens": (3000, 9000),
    "data": ("aGk=", "eW91"),
    "url": ("https://example.org/a", "https://example.org/b"),
}
"""Two values for members that not every value fits, by their names."""


class Variant(NamedTuple):
    """A request with a member, and the same without it or with another value of it. `place` is the
    member's, without indexes."""

    name: str
    place: str
    with_member: Json
    without_member: Json


class _Member(NamedTuple):
    name: str
    type: Any
    required: bool


def variants(root: Any, base: Json) -> Iterator[Variant]:
    """A variant for each member of the TypedDict `root` and of those inside it; `base` is a request
    that the type accepts."""
    visited: set[tuple[str, str]] = set()
    for name, place, value, other in _of_members(root, base, (), visited):
        yield Variant(name, ".".join(place), value, other)


def _of_members(
    kind: Any, base: Json, place: tuple[str, ...], visited: set[tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, ...], Json, Json]]:
    for member in _members(kind):
        here = (*place, member.name)
        inner = list(_values(member.type, member.name, here, visited))
        if (kind.__name__, member.name) not in visited and not _is_constant(member.type):
            visited.add((kind.__name__, member.name))
            first, second = (_sample(member.type, member.name, at) for at in (0, 1))
            without = {**base, member.name: second}
            if not member.required:
                without = {name: each for name, each in base.items() if name != member.name}
            yield f"{kind.__name__}.{member.name}", here, {**base, member.name: first}, without
        for name, at, value, other in inner:
            yield name, at, {**base, member.name: value}, {**base, member.name: other}


def _values(
    kind: Any, name: str, place: tuple[str, ...], visited: set[tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, ...], Any, Any]]:
    """The variants of a value of this type."""
    kind = _plain(kind)
    if is_typeddict(kind):
        yield from _of_members(kind, _sample(kind, name, 0), place, visited)
    elif _is_union(kind):
        for each in get_args(kind):
            yield from _values(each, name, place, visited)
    elif _is_list(kind):
        for label, at, value, other in _values(get_args(kind)[0], name, place, visited):
            yield label, at, [value], [other]


def _sample(kind: Any, name: str, number: int) -> Any:
    """A value of a type, the first or the second."""
    kind = _plain(kind)
    if is_typeddict(kind):
        return {
            each.name: _sample(each.type, each.name, number)
            for each in _members(kind)
            if each.required
        }
    if _is_union(kind):
        return _sample(_richest(kind), name, number)
    if _is_list(kind):
        return [_sample(get_args(kind)[0], name, number)]
    if get_origin(kind) is Literal:
        return get_args(kind)[-1 if number == 0 else 0]
    if kind in (str, int) and name in VALUES:
        return VALUES[name][number]
    if kind in (str, object, Any):
        return f"{name}{number}"
    if kind is bool:
        return number == 0
    if kind in (int, float):
        return kind(7 + number)
    assert get_origin(kind) in (dict, Mapping) or issubclass(get_origin(kind), Mapping), kind
    return {"type": "object", "title": f"{name}{number}"}


def _richest(kind: Any) -> Any:
    """The alternative of a union with most structure: a TypedDict or list, else the first."""
    alternatives = [each for each in get_args(kind) if each is not type(None)]
    rich = [each for each in alternatives if is_typeddict(_plain(each)) or _is_list(_plain(each))]
    return (rich or alternatives)[0]


@cache
def _members(kind: Any) -> tuple[_Member, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        _Member(name, _plain(hint), get_origin(hint) is Required) for name, hint in hints.items()
    )


def _plain(kind: Any) -> Any:
    """A type without its qualifiers."""
    while True:
        if isinstance(kind, TypeAliasType):
            kind = kind.__value__
        elif get_origin(kind) in (Required, NotRequired) or hasattr(kind, "__metadata__"):
            kind = get_args(kind)[0]
        else:
            return kind


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _is_list(kind: Any) -> bool:
    """Whether a list is a value of this generic type: a list, an Iterable or a Sequence."""
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(list, origin)


def _is_constant(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1
