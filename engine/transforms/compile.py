"""Compiles a `transform` of gateway.yaml and finds its mistakes, without reading any document."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.config.transforms import TransformConfig
from engine.relay.request_headers import NEVER_SENT
from engine.source.problem import Path
from engine.transforms.body_edits import BodyEdits, ItemEdits, JsonValue, ValueEdits
from engine.transforms.edit_conflicts import EditedNames, EditedPlaces
from engine.transforms.faults import CONFLICT, RESERVED, SYNTAX, Faults
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.places import Place, steps_of
from engine.transforms.template import Template, TemplateError, literal, parse
from engine.transforms.transform import RequestEdits, ResponseEdits, Transform
from engine.transforms.url_edits import PathEdit, PathForms, QueryEdits

_FRAMING = frozenset(
    {"content-type", "content-length", "content-encoding", "content-range", "transfer-encoding"}
    | {"connection", "keep-alive", "upgrade", "te", "trailer", "expect", "host"}
)
_REQUEST_RESERVED = dict.fromkeys(
    NEVER_SENT | _FRAMING, "it belongs to the connection, the body or a credential"
)
_RESPONSE_RESERVED = dict.fromkeys(
    _FRAMING | {"x-request-id", "request-id"},
    "it belongs to the connection, the body or the gateway",
)
_EMPTY: Mapping[str, Any] = {}


def compile_transform(
    config: TransformConfig,
    *,
    upstream: bool,
    faults: Faults,
    credentials: Collection[tuple[str, str]] = (),
) -> Transform:
    """Compile a transform that matches the schema. Mistakes are added to `faults`; with any, the
    transform must not be used. `credentials` are the headers (`header`) and parameters (`query`)
    that hold a credential, each with its name."""
    options = config.options
    request = _Compiler(("request",), upstream, faults, credentials)
    response = _Compiler(("response",), upstream, faults, ())
    return Transform(
        config.at,
        request.request(options.get("request", _EMPTY)),
        response.response(options.get("response", _EMPTY)),
    )


def compile_all(configs: Sequence[TransformConfig], *, upstream: bool) -> tuple[Transform, ...]:
    """Compile transforms that have passed `check`."""
    return tuple(
        compile_transform(config, upstream=upstream, faults=Faults()) for config in configs
    )


class _Compiler(Struct, frozen=True):
    """Compiles the edits below `at`, a place in the transform."""

    at: Path
    upstream: bool
    faults: Faults
    credentials: Collection[tuple[str, str]]

    def request(self, section: Mapping[str, Any]) -> RequestEdits:
        return RequestEdits(
            header=self.headers(
                section.get("header", _EMPTY), _REQUEST_RESERVED | self._reserved("header")
            ),
            query=self.query(section.get("query", _EMPTY)),
            path=self.path(section["path"]) if "path" in section else None,
            body=self.body(section.get("body", _EMPTY)),
        )

    def response(self, section: Mapping[str, Any]) -> ResponseEdits:
        return ResponseEdits(
            header=self.headers(section.get("header", _EMPTY), _RESPONSE_RESERVED),
            body=self.body(section.get("body", _EMPTY)),
        )

    def headers(self, section: Mapping[str, Any], reserved: Mapping[str, str]) -> HeaderEdits:
        at = (*self.at, "header")
        EditedNames(at, self.faults, reserved, lower=True).read(section)
        return HeaderEdits(
            remove=frozenset(name.lower() for name in section.get("remove", ())),
            rename={old.lower(): new.lower() for old, new in section.get("rename", _EMPTY).items()},
            add=self._templates(section, "add", at, lower=True),
            set=self._templates(section, "set", at, lower=True),
        )

    def query(self, section: Mapping[str, Any]) -> QueryEdits:
        at = (*self.at, "query")
        EditedNames(at, self.faults, self._reserved("query")).read(section)
        return QueryEdits(
            remove=frozenset(section.get("remove", ())),
            rename=dict(section.get("rename", _EMPTY)),
            default=self._templates(section, "default", at),
            set=self._templates(section, "set", at),
        )

    def body(self, section: Mapping[str, Any]) -> BodyEdits:
        at = (*self.at, "body")
        places = EditedPlaces(at, self.faults)
        edits = BodyEdits(
            remove=tuple(
                places.read("remove", text, (*at, "remove", index), key=False)
                for index, text in enumerate(section.get("remove", ()))
            ),
            rename=tuple(
                (
                    places.read("rename", old, (*at, "rename", old), key=True, query=False),
                    places.read("rename to", new, (*at, "rename", old), key=False, query=False),
                )
                for old, new in section.get("rename", _EMPTY).items()
            ),
            default=self._values(section, "default", places, query=False),
            set=self._values(section, "set", places),
            prepend=self._items(section, "prepend", places),
            append=self._items(section, "append", places),
            unless=self._unless(section, places),
        )
        places.check()
        return edits

    def _unless(
        self, section: Mapping[str, Any], places: EditedPlaces
    ) -> dict[tuple[str, ...], tuple[Place, ...]]:
        """The places of `unless` by the steps of those of `default`, among which each must be."""
        at = (*self.at, "body", "unless")
        defaults = {steps_of(text) for text in section.get("default", _EMPTY)}
        unless = {}
        for text, others in section.get("unless", _EMPTY).items():
            steps = steps_of(text)
            if steps not in defaults:
                message = f"'{text}' has no entry under 'default'"
                hint = "write its value under 'default', or remove this line"
                self.faults.add((*at, text), CONFLICT, message, hint, key=True)
            unless[steps] = tuple(
                places.condition(other, (*at, text, i)) for i, other in enumerate(others)
            )
        return unless

    def _values(
        self, section: Mapping[str, Any], kind: str, places: EditedPlaces, *, query: bool = True
    ) -> ValueEdits:
        at = (*self.at, "body", kind)
        return tuple(
            (
                places.read(kind, text, (*at, text), key=True, query=query),
                self._value(value, (*at, text)),
            )
            for text, value in section.get(kind, _EMPTY).items()
        )

    def _items(self, section: Mapping[str, Any], kind: str, places: EditedPlaces) -> ItemEdits:
        at = (*self.at, "body", kind)
        return tuple(
            (
                places.read(kind, text, (*at, text), key=True),
                tuple(self._value(item, (*at, text, i)) for i, item in enumerate(items)),
            )
            for text, items in section.get(kind, _EMPTY).items()
        )

    def _value(self, value: Any, at: Path) -> JsonValue:
        try:
            return JsonValue(value, lambda text: self.template(text, at, lists=True))
        except ValueError as error:
            self.faults.add(at, SYNTAX, str(error))
            return JsonValue(None, literal)

    def _reserved(self, kind: str) -> dict[str, str]:
        """The names that hold a credential, each with the reason."""
        hint = "it holds the credential: set it by 'credential'"
        return {name: hint for place, name in self.credentials if place == kind}

    def path(self, value: str | Mapping[str, Any]) -> PathEdit | None:
        at = (*self.at, "path")
        if not self.upstream:
            message = "the path is that of an upstream, which is not chosen yet"
            hint = "move it to the transform of an upstream or a target"
            self.faults.add(at, RESERVED, message, hint, key=True)
            return None
        if isinstance(value, str):
            return PathEdit({}, self._path_template(value, at))
        return PathEdit({path: self._forms(form, (*at, path)) for path, form in value.items()})

    def _forms(self, form: str | Mapping[str, str], at: Path) -> PathForms:
        if not str(at[-1]).startswith("/"):
            self.faults.add(at, SYNTAX, f"'{at[-1]}' is not a path", "it begins with '/'", key=True)
        if isinstance(form, str):
            template = self._path_template(form, at)
            return PathForms(template, template)
        return PathForms(
            self._path_template(form["whole"], (*at, "whole")),
            self._path_template(form["stream"], (*at, "stream")),
        )

    def _path_template(self, text: str, at: Path) -> Template:
        if not text.startswith(("/", "{target.path}")) or "?" in text or "#" in text:
            message = f"'{text}' is not a path below the upstream's 'url'"
            self.faults.add(at, SYNTAX, message, "it begins with '/' and has no '?' and no '#'")
        return self.template(text, at)

    def _templates(
        self, section: Mapping[str, Any], kind: str, at: Path, *, lower: bool = False
    ) -> dict[str, Template]:
        templates = {}
        for name, text in section.get(kind, _EMPTY).items():
            template = self.template(text, (*at, kind, name))
            if lower and not _is_header_text(text):
                message = f"header '{name}' cannot have this value"
                hint = "a header has printable ASCII characters"
                self.faults.add((*at, kind, name), SYNTAX, message, hint)
            templates[name.lower() if lower else name] = template
        return templates

    def template(self, text: str, at: Path, *, lists: bool = False) -> Template:
        """The compiled text; the text itself if it has a fault. `lists`: it may be a list."""
        try:
            template = parse(text, upstream=self.upstream)
        except TemplateError as error:
            self.faults.add(at, SYNTAX, str(error), error.hint)
            return literal(text)
        if template.is_list and not lists:
            message = f"'{text}' is a list, which only a body can have"
            hint = "write 'request.header.' for the text of the header"
            self.faults.add(at, SYNTAX, message, hint)
            return literal(text)
        return template


def _is_header_text(text: str) -> bool:
    return text.isprintable() and text.isascii()
