"""A field under `drop` that no format has: often a typo. `drop` names the fields of requests
without indexes, like `messages.content.file`."""

from __future__ import annotations

from collections.abc import Iterator

from engine import translations
from engine.offline.check.audit import AuditCase
from engine.plan.plan import Plan
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.values.media_types import is_json
from engine.values.wildcard import matches

_MAX_DEPTH = 4
_MAX_PLACES = 20_000
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def check(case: AuditCase) -> None:
    models = [model for model in case.config.models.values() if model.drop]
    fields = request_fields(case.plan) if models else frozenset()
    for model in models:
        for index, name in enumerate(model.drop):
            if not any(matches(field, name) for field in fields):
                hint = did_you_mean(
                    name, fields, "fields are written without indexes: tools.strict"
                )
                message = f"'{name}' is not a field of any format"
                case.warn((*model.at, "drop", index), "MW423", message, hint)


def request_fields(plan: Plan) -> frozenset[str]:
    """The fields that the documents of the plan describe for chats and embeddings, and those of
    the features of each language."""
    fields = {name for language in translations.languages() for name in language.features.fields()}
    for route in plan.routes:
        if route.model is not None and route.by_model.language:
            node = plan.specifications[route.operation.spec].node(route.operation)
            for media_type, media in node.get("requestBody").get("content").items():
                if is_json(media_type):
                    fields |= _Fields().of(media.get("schema"))
    return frozenset(fields)


class _Fields:
    """The fields of one schema. Recursion is limited by a depth, and each schema is read once per
    place."""

    def __init__(self) -> None:
        self._visited: set[tuple[str, str]] = set()

    def of(self, schema: Node) -> set[str]:
        return set(self._below(schema, "", 0))

    def _below(self, schema: Node, place: str, depth: int) -> Iterator[str]:
        if not isinstance(schema.value, dict):
            return
        key = schema.pointer, place
        if depth > _MAX_DEPTH or key in self._visited or len(self._visited) >= _MAX_PLACES:
            return
        self._visited.add(key)
        for name, member in schema.get("properties").items():
            field = f"{place}.{name}" if place else name
            yield field
            yield from self._below(member, field, depth + 1)
        for keyword in _ALTERNATIVES:
            for alternative in schema.get(keyword).elements():
                yield from self._below(alternative, place, depth)
        for keyword in ("items", "then", "else"):
            yield from self._below(schema.get(keyword), place, depth)
