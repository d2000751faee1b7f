"""The reference page: one OpenAPI document of all operations that a plan routes, as callers see
them, at /openapi.json; and the files of Swagger UI."""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from engine.console.asset import Asset, respond
from engine.console.chat_formats import example_model, models, routed_formats
from engine.console.code_snippets import snippets
from engine.console.reference_components import Components
from engine.edge.origin import base_of
from engine.exchange.exchange import Exchange, Handler, Response
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.spec.document import path_templates
from engine.spec.document.path_items import ADDITIONAL, METHODS
from engine.spec.security import Carrier
from engine.values.trees import Json

_PACKAGE = "flask_swagger_ui"
_SPEC = find_spec(_PACKAGE)  # not imported: it would import Flask, and nothing of it is called
SWAGGER_UI = Path(_SPEC.origin if _SPEC and _SPEC.origin else _PACKAGE).parent / "dist"
"""The files of Swagger UI."""

_MAX_BASES = 8
_PLACEHOLDER = "https://the-address-of-this-gateway.invalid"
"""Stands for the base URL, so that the document is merged only once."""
_LANGUAGES = {"curl": "Shell"}
"""The languages of programs whose label is another one."""
_DESCRIPTION = (
    "The operations of this gateway. Put the token where the security of an operation says; a "
    "token that you enter stays in this page."
)
_REPLACED = frozenset({"operationId", "security", "servers", "tags", "callbacks", "parameters"})
_INVALID = re.compile(r"[^A-Za-z0-9._-]+")


def document(plan: Plan) -> Handler:
    """A handler for the merged document, which is built at its first request."""

    @cache
    def template() -> bytes:
        return _as_json(merged(plan, _PLACEHOLDER))

    @lru_cache(maxsize=_MAX_BASES)
    def asset(base: str) -> Asset:
        content = template().replace(_PLACEHOLDER.encode(), base.encode())
        return Asset(content, "application/json")

    def handle(exchange: Exchange) -> Response:
        return respond(asset(base_of(exchange, plan.config.server)), exchange)

    return handle


def _as_json(document: object) -> bytes:
    """Encode as JSON. Vendors' documents have integers above 64 bits, which orjson refuses."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def merged(plan: Plan, base: str) -> Json:
    """The document. Paths include their prefix, the only server is `base`; an operation is named as
    in gateway.yaml (`spec.operationId`) and listed once, under the first of its prefixes."""
    merger = _Merger(plan, _samples(plan, base))
    for route in plan.routes:
        merger.add(route)
    return {
        "openapi": _version(merger.paths),
        "info": {"title": "Modelway", "version": "1", "description": _DESCRIPTION},
        "servers": [{"url": base}],
        "tags": [{"name": name, **members} for name, members in merger.tags.items()],
        "paths": merger.paths,
        "components": {**merger.components.components, "securitySchemes": merger.schemes},
    }


def _samples(plan: Plan, base: str) -> dict[str, list[Json]]:
    """The programs of the home page by the operation that they call, as `x-codeSamples`, which
    several renderers read."""
    formats = routed_formats(plan)
    entries = models(plan, formats)
    return {
        routed.operation: [
            {"lang": _LANGUAGES.get(label, label), "label": label, "source": source}
            for label, source in snippets(routed, base, example_model(routed.name, entries))
        ]
        for routed in formats
    }


class _Merger:
    def __init__(self, plan: Plan, samples: dict[str, list[Json]]) -> None:
        self.plan = plan
        self.samples = samples
        self.components = Components()
        self.paths: dict[str, Json] = {}
        self.schemes: Json = {}
        self.tags: dict[str, dict[str, str]] = {}
        self._first: dict[tuple[str, str], Route] = {}

    def add(self, route: Route) -> None:
        """Add a route's operation, unless one of another document of its dialect has its method and
        path. An alternative to an earlier one has a fragment in its path, which no request has."""
        operation = route.operation
        template = operation.templates[0][0]
        key = f"{template}?{urlencode(operation.query)}" if operation.query else template
        shape = (operation.method, path_templates.shape(key))
        first = self._first.setdefault(shape, route)
        if first is not route:
            is_alternative = operation.is_alternative(first.operation)
            if not (is_alternative or route.dialects[-1].differs_by_request(first.dialects[-1])):
                return
            key += f"#{quote(operation.name, safe='')}"
        holder = self._holder(key, operation.method)
        holder[_key(operation.method)] = self._members(route, first)

    def _members(self, route: Route, first: Route) -> Json:
        """The operation; `first` is the first that was added for its method and path."""
        operation = route.operation
        node = self.plan.specifications[operation.spec].node(operation)
        copied = self.components.copy(node, operation.spec)
        members = {key: value for key, value in copied.items() if key not in _REPLACED}
        notes = [members.get("description", "")]
        if first is not route:
            decides = (
                "to the first of them in their document that accepts it"
                if operation.is_alternative(first.operation)
                else "to the one whose dialect its headers have"
            )
            notes.append(
                f"`{first.operation.id}` has the same method and path: a request belongs {decides}."
            )
        if aliases := ", ".join(f"`{path}`" for path, _ in operation.templates[1:]):
            notes.append(f"Also at {aliases}.")
        if len(notes) > 1:
            members["description"] = "\n\n".join(notes).strip()
        if parameters := self._parameters(route):
            members["parameters"] = parameters
        if operation.id in self.samples:
            members["x-codeSamples"] = self.samples[operation.id]
        return {
            "operationId": operation.id,
            "tags": [self._tag(operation.spec, tag) for tag in _texts(copied.get("tags"))],
            **members,
            "security": self._security(route),
        }

    def _holder(self, path: str, method: str) -> Json:
        """The path item, or its member with the operations of methods without a key."""
        item = self.paths.setdefault(path, {})
        if _key(method) in METHODS:
            return item
        additional: Json = item.setdefault(ADDITIONAL, {})
        return additional

    def _parameters(self, route: Route) -> list[Any]:
        """The operation's parameters, and those of its path that it does not replace."""
        operation = route.operation
        document = self.plan.specifications[operation.spec].library.document
        item = document.get("paths").get(str(operation.at[1]))
        parameters: dict[tuple[str, str], object] = {}
        for holder in (item, self.plan.specifications[operation.spec].node(operation)):
            for parameter in holder.get("parameters").elements():
                key = (parameter.text("in"), parameter.text("name"))
                parameters[key] = self.components.copy(parameter, operation.spec)
        return list(parameters.values())

    def _tag(self, spec: str, tag: str) -> str:
        """A tag of a document, prefixed with the name of the document."""
        name = f"{spec}: {tag}"
        if name not in self.tags:
            listed = self.plan.specifications[spec].library.document.get("tags").elements()
            words = (
                t.text("description") or t.text("summary") for t in listed if t.text("name") == tag
            )
            description = next(words, "")
            self.tags[name] = {"description": description} if description else {}
        return name

    def _security(self, route: Route) -> list[dict[str, list[str]]]:
        """The security schemes of the token; OpenAPI has none for a subprotocol."""
        if route.allows_anonymous:
            return []
        return [self._scheme(c) for c in route.carriers if c.kind != "subprotocol"]

    def _scheme(self, carrier: Carrier) -> dict[str, list[str]]:
        """The security scheme of a carrier of the token, which is added once."""
        if carrier.kind in ("bearer", "basic"):
            name, scheme = carrier.kind, {"type": "http", "scheme": carrier.kind}
        else:
            name = f"{carrier.kind}-{_INVALID.sub('_', carrier.name)}"
            scheme = {"type": "apiKey", "in": carrier.kind, "name": carrier.name}
        self.schemes[name] = {**scheme, "description": "The token that this platform gave you."}
        return {name: []}


def _key(method: str) -> str:
    """The key of a method in a path item, or among its additional operations."""
    return method.lower() if method.lower() in METHODS else method


def _version(paths: dict[str, Json]) -> str:
    """The version of OpenAPI that has all of these paths' members."""
    is_new = any(key in item for item in paths.values() for key in ("query", ADDITIONAL))
    return "3.2.0" if is_new else "3.1.0"


def _texts(tags: object) -> list[str]:
    texts = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return texts or ["all"]
