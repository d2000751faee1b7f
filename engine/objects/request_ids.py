"""Ids in requests: opened, checked against the caller, and replaced by the vendor's."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import OpenedIds
from engine.objects.body_ids import BodyIds
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener
from engine.objects.id_place_names import FieldPlaces, names_of, sign_of
from engine.objects.id_places import IdPlace, JsonName
from engine.spec.parameters.query_string import Query, decode
from engine.values.json_spans import ESCAPE


class RequestIds:
    """Opens the ids of an operation's requests, and marks what they make as the caller's.

    `json_name` gives the other spelling of a member; `parse` parses a form again that was edited.
    """

    def __init__(
        self,
        facts: ObjectFacts,
        opener: IdOpener,
        parse: Callable[[Exchange], object],
        json_name: JsonName | None = None,
    ) -> None:
        self._opener = opener
        self._of = {
            location: [place for place in facts.names if place.location == location]
            for location in ("path", "query", "header")
        }
        self._query_fields = FieldPlaces(self._of["query"])
        self._body = BodyIds(facts, opener, parse, json_name)
        self._json_name = json_name
        self._when = facts.when
        self.signs = self._signs(facts)
        """Bytes of which the JSON of a request, in lower case, has some if it may have ids or make
        an object; nothing if other parts of requests have ids as well, or all make or list
        objects."""

    def _signs(self, facts: ObjectFacts) -> tuple[bytes, ...]:
        names = () if facts.when is None else names_of(facts.when.at, self._json_name, lower=True)
        condition = sign_of(names)
        always_makes = facts.otherwise.creates or facts.otherwise.marks
        is_in_body = all(each.location == "body" for each in facts.names)
        are_known = is_in_body and self._body.names.are_known
        knows = are_known and (facts.when is None or condition) and not always_makes
        if not knows or facts.lists or facts.turns or facts.batch or facts.copy:
            return ()
        return (ESCAPE, *condition, *self._body.names.signs)

    def open(self, exchange: Exchange, opened: OpenedIds) -> bool:
        """Open the ids of a request, and mark what it makes. Returns whether the body has changed.
        Raises GatewayError 400 and 404."""
        value = exchange.content.value
        opened.creates = self._when is None or self._when.holds(value, self._json_name)
        for place in self._of["path"]:
            self._open_path(exchange, place, opened)
        if self._of["query"] and exchange.query:
            self._open_query(exchange, opened)
        for place in self._of["header"]:
            self._open_header(exchange, place, opened)
        return self._body.open(exchange, opened)

    def _open_path(self, exchange: Exchange, place: IdPlace, opened: OpenedIds) -> None:
        name = place.steps[0]
        if name not in exchange.variables:
            return
        start, end = exchange.variables[name]
        raw = exchange.path[start:end]
        value = self._opener.open_at(place, unquote(raw), exchange, opened)
        if value is None:
            return
        exchange.replace_variable(name, quote(value, safe="/" if "/" in raw else ""))

    def _open_query(self, exchange: Exchange, opened: OpenedIds) -> None:
        segments = []
        for name, segment in Query.parse(exchange.query).segments():
            place = self._query_fields.place_of(name)
            if place is not None and name is not None:
                coded, _, raw = segment.partition("=")
                text = decode(raw, f"query parameter {name!r}", plus=True)
                value = self._opener.open_at(place, text, exchange, opened)
                segment = segment if value is None else f"{coded}={quote(value, safe='')}"
            segments.append(segment)
        exchange.query = "&".join(segments)

    def _open_header(self, exchange: Exchange, place: IdPlace, opened: OpenedIds) -> None:
        key = environ_key(place.steps[0])
        text = exchange.header(key)
        if text is None:
            return
        value = self._opener.open_at(place, text, exchange, opened)
        if value is not None:
            exchange.environ = {**exchange.environ, key: value}
