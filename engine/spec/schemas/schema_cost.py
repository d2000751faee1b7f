"""How often a validator applies schemas to a value: its cost, found without validating.

jsonschema_rs holds the interpreter and cannot be interrupted. A schema that two branches of another
one refer to is applied twice to the same value, one level deeper four times: 25 levels cost seconds
for `{}`. Only where a schema refers back to one that contains it are its results kept (for objects
and arrays). Listing errors keeps no results, and makes every error of every branch.

So the schemas form a graph, and the times that each is applied are counted along it: at start-up
for any value, which finds the schemas that can be expensive, and for these for each value, before
it is validated. The count is an upper bound: no branch ends early.

Schemas that apply many others to one value, or have keywords that take long by themselves, are
presumed to be costly by their text: a body of some kilobytes may take longer than other requests
should wait. A worker lets a heavy worker serve their bodies until these have shown what they cost
(`server/large_requests/large_sizes.py`).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import jsonschema_rs

from engine.spec.schemas.schema_graph import (
    UNEVALUATED,
    GraphSchema,
    Parts,
    Place,
    SchemaGraph,
    in_branch_order,
    postorder,
    sum_of,
)
from engine.values.errors import GatewayError

MAX_REFERENCES = 18
"""Schemas with no more references and branches are not expensive: 3**6 applications."""

MAX_STEPS = 2_000_000
"""Steps that validating a value may take, about 0.1 s."""
TOO_EXPENSIVE = "validation_too_expensive"
"""The code of the refusal of a request whose validation would take too long."""
_BRANCHES = ('"$ref"', '"$dynamicRef"', '"allOf"', '"anyOf"', '"oneOf"', '"not"', '"if"')
COSTLY = 150
"""How often the schemas of one that is presumed to be costly are applied to one value, at least. In
vendors' documents it is 140 and less, and 100 KB take 1 to 4 ms; with 200 patterns they take 90."""
_MANY = '"patternProperties"'
_ALTERNATIVES = ('"oneOf"', '"anyOf"', '"allOf"')
_MIN_LENGTH = 10 * COSTLY
"""Characters of so many alternatives that refer to nothing."""
_PATTERN = '"pattern"'
_SLOW_PATTERN = re.compile(
    r'"pattern":\s*"(?:[^"\\]|\\[^\\]|\\\\(?:\\.|[^"\\1-9k]))*?(?:\(\?<?[=!]|\\\\[1-9k])'
)
"""A pattern that looks around or refers back, for which the engine backtracks: 100 KB take 90 ms
and more. Others take a time in proportion to the text."""
_SLOW_NAME = re.compile(r"\(\?<?[=!]|\\\\[1-9k]")
"""What such a pattern has; in a text with patterns of names it may be in one of these."""
_SLOW_NUMBER = re.compile(r'"multipleOf":\s*(?:\d+\.\d*[1-9]|\d+(?:\.\d+)?[eE]-)')
"""A multiple of a fraction, which takes 2 us for each number."""


class SchemaCost:
    """The cost of a schema, a JSON text in the file `uri`, and the parts of files that it refers
    to."""

    def __init__(self, uri: str, text: str, parts: Parts) -> None:
        self._root = SchemaGraph().root(uri, text, parts)
        schemas = list(postorder(self._root))
        for order, schema in enumerate(in_branch_order(schemas)):
            schema.order = order
        self.is_recursive = any(schema.returns for schema in schemas)
        self.most, self.worst = sum_of(schemas)

    def locate(self, place: Place) -> None:
        """Take the place of the complete schema, which it may not know."""
        if not self.worst.path:
            self.worst = place

    def exceeds(self, value: object, limit: int, *, errors: bool = False) -> bool:
        """Whether validating a value, or listing its `errors`, takes more than `limit` steps."""
        steps, work = 0, [(value, {self._root: 1})]
        while work:
            value, times = work.pop()
            is_container = isinstance(value, dict | list)
            self._apply(times, with_returns=is_container and not errors)
            steps += sum(times.values())
            if steps > limit:
                return True
            if is_container:
                work += _below(value, times)
        return False

    @staticmethod
    def _apply(times: dict[GraphSchema, int], *, with_returns: bool) -> None:
        """Add the branches of these schemas, and theirs. `with_returns`: the results of schemas
        that are referred to from within are kept."""
        number = count()
        queue = [(-schema.order, next(number), schema) for schema in times]
        heapq.heapify(queue)
        while queue:
            schema = heapq.heappop(queue)[2]
            if with_returns and schema.returns:
                times[schema] = 1
            for branch in schema.branches:
                if branch not in times:
                    times[branch] = 0
                    heapq.heappush(queue, (-branch.order, next(number), branch))
                times[branch] += times[schema] * schema.times


def may_be_expensive(texts: Iterable[str]) -> bool:
    """Whether these JSON texts have enough branches for an expensive schema."""
    references = 0
    for each in texts:
        references += sum(map(each.count, _BRANCHES))
        if references > MAX_REFERENCES or any(keyword in each for keyword in UNEVALUATED):
            return True
    return False


def _below(
    value: Any, times: dict[GraphSchema, int]
) -> Iterator[tuple[object, dict[GraphSchema, int]]]:
    """The members or items of a value, each with how often schemas are applied to it."""
    if isinstance(value, list):
        of_items = [(part, n) for schema, n in times.items() for part in schema.items]
        for item in value if of_items else ():
            yield item, _added(of_items)
        return
    of_members = [(part, n) for schema, n in times.items() for part in schema.members]
    for name, member in value.items():
        members = [(s.member[name], n) for s, n in times.items() if name in s.member]
        if members or of_members:
            yield member, _added([*members, *of_members])


def _added(pairs: Iterable[tuple[GraphSchema, int]]) -> dict[GraphSchema, int]:
    times: dict[GraphSchema, int] = {}
    for schema, number in pairs:
        times[schema] = times.get(schema, 0) + number
    return times


def may_apply_many(texts: Iterable[str]) -> bool:
    """Whether these JSON texts may have a keyword that applies many schemas to one value, although
    they have few references."""
    return any(_MANY in each or _has_long_list(each) for each in texts)


def _has_long_list(text: str) -> bool:
    return len(text) > _MIN_LENGTH and any(keyword in text for keyword in _ALTERNATIVES)


def has_slow_pattern(texts: Iterable[str]) -> bool:
    """Whether these JSON texts may have a pattern that takes long for a long text."""
    return any(
        (_PATTERN in text and _SLOW_PATTERN.search(text) is not None)
        or (_MANY in text and _SLOW_NAME.search(text) is not None)
        for text in texts
    )


def has_fraction(texts: Iterable[str]) -> bool:
    """Whether these JSON texts have a keyword that takes long for each number."""
    return any('"multipleOf"' in text and _SLOW_NUMBER.search(text) for text in texts)


class BoundedValidator:
    """The compiled form of an expensive schema: counts the cost of each value first."""

    __slots__ = ("_compiled", "_cost", "iter_errors")

    def __init__(self, compiled: jsonschema_rs.Validator, cost: SchemaCost) -> None:
        self._compiled = compiled
        self._cost = cost
        self.iter_errors = compiled.iter_errors

    def is_valid(self, value: object) -> bool:
        """Whether the schema accepts a JSON value. Raises GatewayError 400 if that takes more than
        MAX_STEPS."""
        if self._cost.exceeds(value, MAX_STEPS):
            message = (
                f"Validating the request would take more than {MAX_STEPS:,} steps, mostly by the "
                f"schema '{self._cost.worst}' of its document. Send a smaller or flatter value."
            )
            raise GatewayError(400, TOO_EXPENSIVE, message)
        return self._compiled.is_valid(value)
