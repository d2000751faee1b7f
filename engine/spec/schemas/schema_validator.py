"""Validators of the schemas of documents, compiled when they are used.

A compiled schema takes twenty times the memory of its JSON. A config may have thousands of
operations, of which most are hardly ever requested, and of which many have equal schemas. So a
validator keeps the JSON of its schema, equal schemas share one validator, and only the
`MAX_COMPILED` validators that were compiled last stay compiled, of at most `MAX_COMPILED_SIZE`
characters together.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import jsonschema_rs

from engine.source.problem import path_in
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.spec.schemas import schema_cost as cost
from engine.spec.schemas.formats import FORMATS
from engine.spec.schemas.judge_in_child import EXCERPT, Verdict, judge_in_child
from engine.spec.schemas.schema_cost import BoundedValidator, SchemaCost, may_be_expensive
from engine.spec.schemas.schema_graph import SchemaGraph, place_of
from engine.spec.schemas.schema_places import without_references
from engine.spec.schemas.slow_patterns import ALL_WAYS, SlowPatterns, slow_patterns
from engine.spec.schemas.whole_numbers import as_integers
from engine.values.trees import Json, value_at

EXPENSIVE = 1_000
"""How often schemas may be applied to one value before the cost of values is counted first. In
vendors' documents it is 140 and less."""

MAX_ERROR_STEPS = 30_000
"""Steps that listing the errors of a value may take, each a thousand times as long as one of
validating it."""

MAX_COMPILED = 1_000
MAX_COMPILED_SIZE = 8_000_000
"""Of all plans of this process, also former ones. Compiling a small schema again takes 50 us. Eight
million characters take 200 MB: schemas of a query language, each with all of it, would take more
than everything else together."""

_ROOT = "x-modelway-root"
"""The place of the validator's own schema in its file, followed by `-` while the file has the same
key: validators of equal schemas are equal."""

_on_use: ContextVar[bool] = ContextVar("on_use", default=False)


class SchemaPart(NamedTuple):
    """A part of a file that a schema refers to, at its path in the file with this URI, as JSON."""

    uri: str
    path: tuple[str | int, ...]
    text: str


@contextmanager
def compile_on_use() -> Iterator[None]:
    """In a `with` block, schemas that are known not to be broken are compiled when they are used:
    for commands that answer few requests or none, and where few of the operations are called."""
    before = _on_use.set(True)
    try:
        yield
    finally:
        _on_use.reset(before)


class TooManyErrors(Exception):
    """Listing the errors of a value would take too long."""


class SchemaValidator:
    """The validator of a schema, its JSON `text`, in the file `uri`. `parts` are all that it refers
    to, directly and indirectly. Made by `validator_of`."""

    __slots__ = (
        *("__weakref__", "_compiled", "_cost", "_is_30", "_is_proven", "_parts", "_slow", "_text"),
        *("_uri", "is_costly", "is_expensive", "size"),
    )

    def __init__(self, is_30: bool, uri: str, text: str, parts: tuple[SchemaPart, ...]) -> None:
        self._is_30 = is_30
        self._uri = uri
        self._text = text
        self._parts = parts
        self._compiled: _Compiled | None = None
        self._cost: SchemaCost | None = None
        self._slow: SlowPatterns | None = None
        self._is_proven = False
        self.is_expensive = self.is_costly = False
        self.size = len(text) + sum(len(part.text) for part in parts)

    def prove(
        self, *, known: bool = False, cheap: bool = False, graph: SchemaGraph | None = None
    ) -> None:
        """Compile the schema if it never was. Raises ValueError for a broken schema. One that is
        `known` not to be broken is compiled only if no other must be freed for it, and not within
        `compile_on_use`. `cheap`: it is known to be neither expensive nor costly; `graph` has the
        parts that other schemas refer to as well."""
        if self._is_proven:
            return
        if not cheap:
            self._find_cost(graph or SchemaGraph())
        if not (known and (_on_use.get() or _compiled.is_full(self.size))):
            self.compile()

    def _find_cost(self, graph: SchemaGraph) -> None:
        texts = [self._text, *(part.text for part in self._parts)]
        counts = may_be_expensive(texts) or cost.may_apply_many(texts)
        most = graph.most(self._uri, self._text, self._parts) if counts else 0
        self.is_expensive = most > EXPENSIVE
        is_slow = cost.has_slow_pattern(texts) or cost.has_fraction(texts)
        self.is_costly = most > cost.COSTLY or is_slow

    def is_sound_beside(self, parts: set[SchemaPart]) -> bool:
        """Whether the schema is known not to be broken, as it refers to these parts only, which are
        not, and can be compiled without its references."""
        if not (self._parts and parts.issuperset(self._parts)):
            return False
        places = {(part.uri, part.path) for part in self._parts}
        references: list[str] = []
        text = json.dumps(without_references(json.loads(self._text), references))
        try:
            SchemaValidator(self._is_30, self._uri, text, ()).build()
        except ValueError:  # such as a keyword beside a reference, which 3.0 ignores
            return False
        return all(place_of(each, self._uri) in places for each in references)

    @property
    def cost(self) -> SchemaCost:
        """What validating values costs; kept as long as the compiled schema."""
        cost = self._cost
        if cost is None:
            cost = self._cost = SchemaCost(self._uri, self._text, self._parts)
        return cost  # another greenlet may have freed it

    @property
    def is_compiled(self) -> bool:
        """Whether the next value is judged without compiling the schema first."""
        return self._compiled is not None

    def is_valid(self, value: object) -> bool:
        """Whether the schema accepts a JSON value. Raises GatewayError if that takes too long."""
        compiled = self._compiled or self.compile()
        if self._slow is not None and self._slow.may_take_long(value):
            return self.judge_in_child(lambda: self.is_valid_here(value))
        return compiled.is_valid(value) or self._is_valid_as_integers(compiled, value)

    def may_take_long(self, value: object) -> bool:
        """Whether a pattern may take longer for a text of a JSON value than others should wait."""
        if self._compiled is None:
            self.compile()
        return self._slow is not None and self._slow.may_take_long(value)

    def judge_in_child(self, judge: Callable[[], Verdict]) -> Verdict:
        """What a function that judges by this schema returns in a child process, where it may take
        long. Raises GatewayError."""

        def judge_exactly() -> Verdict:
            self._compiled, self._slow = self._bounded(self.build(ALL_WAYS)), None
            return judge()

        return judge_in_child(judge_exactly, self._text[:EXCERPT])

    def is_valid_here(self, value: object) -> bool:
        """The same of a value for which no pattern takes long."""
        compiled = self._compiled or self.compile()
        return compiled.is_valid(value) or self._is_valid_as_integers(compiled, value)

    def _is_valid_as_integers(self, compiled: _Compiled, value: object) -> bool:
        integers = self._as_integers(value)
        return integers is not value and compiled.is_valid(integers)

    def _as_integers(self, value: object) -> object:
        """The value as Draft 4 must see it for `1.0` to be an integer."""
        texts = (self._text, *(part.text for part in self._parts)) if self._is_30 else ()
        return as_integers(value) if any('"integer"' in text for text in texts) else value

    def iter_errors(self, value: object) -> Iterator[jsonschema_rs.ValidationError]:
        """The errors of a JSON value. Raises TooManyErrors if listing them would take too long:
        a recursive schema repeats its branches at every level of a value."""
        value = self._as_integers(value)
        branches = self._parts and (self.is_expensive or self.cost.is_recursive)
        if branches and self.cost.exceeds(value, MAX_ERROR_STEPS, errors=True):
            raise TooManyErrors
        return (self._compiled or self.compile()).iter_errors(value)

    def compile(self) -> _Compiled:
        """The compiled schema. Raises ValueError for a broken schema."""
        bounded = self._bounded(self.build())
        self._compiled, self._is_proven = bounded, True
        self._slow = slow_patterns((self._text, *(part.text for part in self._parts)))
        for freed in _compiled.add(self):
            freed._compiled = None
            freed._cost = freed._cost if freed.is_expensive else None
        return bounded

    def _bounded(self, compiled: jsonschema_rs.Validator) -> _Compiled:
        return BoundedValidator(compiled, self.cost) if self.is_expensive else compiled

    def build(
        self, patterns: jsonschema_rs.FancyRegexOptions | None = None
    ) -> jsonschema_rs.Validator:
        """The schema compiled, which is not kept. Raises ValueError for a broken schema."""
        kind = jsonschema_rs.Draft4Validator if self._is_30 else jsonschema_rs.Draft202012Validator
        try:
            schema, registry = self._with_parts() if self._parts else (json.loads(self._text), None)
            compiled: jsonschema_rs.Validator = kind(
                schema,
                registry=registry,
                validate_formats=True,
                formats=FORMATS,
                offline=True,
                pattern_options=patterns,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise ValueError(str(error).splitlines()[0]) from error
        return compiled

    def source_pattern(self, error: jsonschema_rs.ValidationError) -> str:
        """The pattern that an error of `pattern` is about, as the document has it; as the engine
        reads it, if the error does not tell its schema from others."""
        pattern: str = error.kind.as_dict()["pattern"]
        texts = (self._text, *(part.text for part in self._parts))
        if not any(SOURCE_PATTERN in text for text in texts):
            return pattern
        schema: Any = json.loads(self._text)
        if self._parts:
            schema = self._files()[0].get(str(error.absolute_keyword_location).partition("#")[0])
        schema = value_at(schema, path_in(schema, error.schema_path[:-1]))
        is_of_error = isinstance(schema, dict) and schema.get("pattern") == pattern
        return str(schema.get(SOURCE_PATTERN, pattern)) if is_of_error else pattern

    def _with_parts(self) -> tuple[dict[str, str], jsonschema_rs.Registry]:
        """A reference to the schema, and the files that it refers to."""
        files, root = self._files()
        draft = jsonschema_rs.Draft4 if self._is_30 else jsonschema_rs.Draft202012
        registry = jsonschema_rs.Registry(list(files.items()), draft=draft)
        return {"$ref": f"{self._uri}#/{root}"}, registry

    def _files(self) -> tuple[Json, str]:
        """The files that the schema refers to, with no other parts, by URI; and the key of the
        schema in its own."""
        files: Json = {self._uri: {}}
        complete: set[tuple[str, tuple[str | int, ...]]] = set()
        for part in sorted(self._parts, key=lambda part: len(part.path)):
            uri, path = part.uri, part.path
            if not any((uri, path[:end]) in complete for end in range(len(path))):
                _put(files, (uri, *path), json.loads(part.text))
                complete.add((uri, path))
        document, root = files[self._uri], _ROOT
        if not isinstance(document, dict):
            raise ValueError("a reference leads to its complete file, which is not a schema")
        while root in document:
            root += "-"
        document[root] = json.loads(self._text)
        return files, root


_Compiled = jsonschema_rs.Validator | BoundedValidator


class _LastCompiled:
    """The validators that are compiled, in the order in which they were."""

    def __init__(self) -> None:
        self._validators: deque[SchemaValidator] = deque()
        self._size = 0

    def is_full(self, size: int) -> bool:
        """Whether another one of this size would free some."""
        return len(self._validators) >= MAX_COMPILED or self._size + size > MAX_COMPILED_SIZE

    def add(self, validator: SchemaValidator) -> Iterator[SchemaValidator]:
        """Keep it, and give those that must be freed for it."""
        self._validators.append(validator)
        self._size += validator.size
        while len(self._validators) > max(MAX_COMPILED, 1) or (
            self._size > MAX_COMPILED_SIZE and len(self._validators) > 1
        ):
            freed = self._validators.popleft()
            self._size -= freed.size
            yield freed


_compiled = _LastCompiled()
_validators: WeakValueDictionary[object, SchemaValidator] = WeakValueDictionary()


def validator_of(
    is_30: bool, uri: str, text: str, parts: tuple[SchemaPart, ...]
) -> SchemaValidator:
    """The validator of a schema. Equal schemas that refer to nothing, or to the same file, share
    it."""
    key = (is_30, uri if parts else "", text, parts)
    validator = _validators.get(key)
    if validator is None:
        validator = _validators[key] = SchemaValidator(is_30, uri, text, parts)
    return validator


def _put(holder: dict[Any, Any], path: tuple[str | int, ...], value: object) -> None:
    """Put a value at its path; JSON Pointers lead through mappings as through lists."""
    *steps, last = map(str, path)
    for step in steps:
        holder = holder.setdefault(step, {})
    holder[last] = value
