"""Edits of a URL: the path of a request to an upstream, from a template, and the query string:
remove, rename, default, set, in this order. Parameters that no edit names keep every byte."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct, field

from engine.spec.document.path_templates import unsafe
from engine.spec.parameters.query_string import Query
from engine.transforms.look_alikes import other_names, renamed_others
from engine.transforms.template import TARGET_NAMES, Read, Template, TemplateValues
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


_PATH = TARGET_NAMES["target.path"]


class PathForms(Struct, frozen=True):
    """The template of a path, and its template for requests for a stream."""

    plain: Template
    stream: Template


class PathEdit(Struct, frozen=True):
    """The new paths by original path. `default` is the template for all other paths, None to keep
    them."""

    by_path: Mapping[str, PathForms]
    default: Template | None = None

    def depends_on_stream(self, path: str) -> bool:
        """Whether a path has another form for streams."""
        forms = self.by_path.get(path)
        return forms is not None and forms.stream is not forms.plain

    def apply(self, values: TemplateValues, *, stream: bool) -> str:
        """The new path for `values.target_path`. Values are percent-encoded, so that they add no
        segment, and must not be empty, so that they remove none; only `{target.path}` is inserted
        unchanged. Raises GatewayError 400 if a value makes the path unsafe, ValueError if the
        template itself is unsafe."""
        template = self.default
        if (forms := self.by_path.get(values.target_path)) is not None:
            template = forms.stream if stream else forms.plain
        if template is None:
            return values.target_path
        path = template.fill(values, _encode)
        if path is None:
            return values.target_path
        if (reason := unsafe(path)) is not None:
            raise ValueError(reason) if template.constant is not None else _refusal(reason)
        return path


def _encode(value: str, name: Read) -> str:
    if value == "" and name is not _PATH:
        raise _refusal("it is empty")
    return value if name is _PATH else quote(value, safe="")


def _refusal(reason: str) -> GatewayError:
    message = f"A value of this request is not valid in the path to the upstream: {reason}."
    return GatewayError(400, "invalid_value", message)
