"""Parameters that are the query string as a whole (`in: querystring` of OpenAPI 3.2)."""

from __future__ import annotations

from engine.exchange.exchange import MISSING
from engine.spec.document.node import Node
from engine.spec.form_bodies import compile_form
from engine.spec.parameter_styles import Reader, parse_json
from engine.spec.query_string import decode
from engine.values.media_types import body_kind, essence

_WHERE = "the query string"


def compile_query(name: str, media: Node) -> Reader:
    """A function that reads a raw query string as content of this media type: a form, JSON, or else
    text. An empty one is MISSING. The reader raises Malformed."""
    schema, kind = media.get("schema"), body_kind(essence(name))
    if kind == "form":
        encoding = media.get("encoding").value or {}
        form = compile_form(schema.value or {}, encoding, schema.follow)
        return lambda query: form(query.encode("latin-1")) if query else MISSING

    def read(query: str) -> object:
        if not query:
            return MISSING
        text = decode(query, _WHERE)
        return parse_json(text, _WHERE) if kind == "json" else text

    return read
