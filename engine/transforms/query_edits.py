"""Edits of a query string: remove, rename, default, set, in this order. Parameters that no edit
names keep every byte."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct, field

from engine.spec.parameters.query_string import Query
from engine.transforms.look_alikes import other_names, renamed_others
from engine.transforms.template import Template, TemplateValues
from engine.values.errors import GatewayError, Malformed


class QueryEdits(Struct, frozen=True):
    """Edits of a query string, or of an urlencoded form.

    What is removed, renamed or set also takes other spellings of its name away (see `look_alikes`).
    `rename` renames every parameter of that name; if one of the new name exists, that one stays.
    """

    remove: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, Template] = field(default_factory=dict)
    set: Mapping[str, Template] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.remove or self.rename or self.default or self.set)

    def apply(self, raw: str, values: TemplateValues) -> str:
        """The raw query string after the edits. Raises GatewayError 400 for one that cannot be
        split."""
        try:
            return self._apply(raw, values)
        except Malformed as error:
            raise GatewayError(400, "invalid_value", f"{error}.") from error

    def _apply(self, raw: str, values: TemplateValues) -> str:
        query = _parse(raw)
        names = query.names()
        if self.remove and names:
            removed = self.remove | other_names(names, self.remove)
            if not removed.isdisjoint(names):
                query = _parse(query.without(removed))
        for old, new in self.rename.items():
            query = _rename(query, old, new)
        if self.rename and (others := renamed_others(query.names(), self.rename)):
            query = _parse(query.without(others))
        for name, template in self.default.items():
            if not query.values(name) and (text := template.fill(values)) is not None:
                query = _parse(query.replace(name, text))
        for name, template in self.set.items():
            if (text := template.fill(values)) is not None:
                if others := other_names(query.names(), {name}):
                    query = _parse(query.without(others))
                query = _parse(query.replace(name, text))
        return query.raw


def _parse(raw: str) -> Query:
    return Query.parse(raw)


def _rename(query: Query, old: str, new: str) -> Query:
    if not query.values(old):
        return query
    if query.values(new):
        return _parse(query.without({old}))
    coded = quote(new, safe="")
    segments = [
        coded + segment[len(segment.partition("=")[0]) :] if name == old else segment
        for name, segment in query.segments()
    ]
    return _parse("&".join(segments))
