"""What a request says itself, of a header, a verified claim, or a member of its body: the names by
which it is counted, and its tags. All are bounded, see `values/quota_sharers.py` and
`values/bounded_names.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.values import json_pointer
from engine.values.bounded_names import NameTables
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from engine.values.quota import QuotaRule
from engine.values.quota_sharers import NOBODY, PLACES, Sharer, bounded
from engine.values.quota_window import window_seconds
from engine.values.tags import tag_value
from engine.values.wildcard import Patterns

_LARGE = 2**64

ReadName = Callable[[Exchange], str]
"""Reads the name under which a request counts; NOBODY if it has none. Raises GatewayError 400 where
that is refused."""


class RequestNames:
    """The names that requests say for some quotas: `sharers` are their places, `readers` read
    them, in the same order. `tables` bound them."""

    def __init__(self, rules: Sequence[QuotaRule], tables: NameTables) -> None:
        by_place: dict[Sharer, list[QuotaRule]] = {}
        for rule in rules:
            for sharer in rule.by.sharers:
                if sharer.kind in PLACES:
                    by_place.setdefault(sharer, []).append(rule)
        self.sharers = tuple(by_place)
        self.readers = [_reader(place, using, tables) for place, using in by_place.items()]


def team_name(caller: Caller | None, rules: Sequence[QuotaRule]) -> str:
    """The team of a caller in counters. Raises GatewayError 400 if there is none, and a rule
    refuses that."""
    if caller is not None and caller.team:
        return bounded(caller.team)
    if any(rule.by.refuses_missing and "team" in rule.by.kinds for rule in rules):
        raise _missing("a token of a team", "")
    return NOBODY


def read_place(sharer: Sharer) -> ReadName:
    """A function that gives the text of a place, "" if a request has none that is believed."""
    read, believes = _READERS[sharer.kind](sharer.name), _believes(sharer)
    if believes is None:
        return read
    return lambda exchange: read(exchange) if believes(exchange.caller) else ""


def _reader(sharer: Sharer, rules: Sequence[QuotaRule], tables: NameTables) -> ReadName:
    read = read_place(sharer)
    refuses = any(rule.by.refuses_missing for rule in rules)
    age = max(window_seconds(rule.quota.window) for rule in rules)
    admit = tables.of((sharer.kind, sharer.name), age).admit

    def name(exchange: Exchange) -> str:
        if text := read(exchange):
            return admit(bounded(text))
        if refuses:
            raise _missing(place_text(sharer), sharer.name)
        return NOBODY

    return name


def _believes(sharer: Sharer) -> Callable[[Caller | None], bool] | None:
    """Whether a caller is one that is believed; None for everybody."""
    if sharer.trusted is None or "*" in sharer.trusted:
        return None
    trusted = Patterns(sharer.trusted)
    return lambda caller: caller is not None and trusted.match(caller.name)


def _header_reader(name: str) -> ReadName:
    key = environ_key(name)
    return lambda exchange: str(exchange.environ.get(key, "")).strip()


def _claim_reader(place: str) -> ReadName:
    def read(exchange: Exchange) -> str:
        return "" if exchange.caller is None else exchange.caller.claims.get(place, "")

    return read


def _body_reader(pointer: str) -> ReadName:
    path = json_pointer.path_of(pointer)

    def read(exchange: Exchange) -> str:
        value: object = exchange.content.value
        for step in path:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return ""
        return text_of(value)

    return read


def text_of(value: object) -> str:
    """A JSON value as a name: a text, a number or a boolean; "" for any other."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and not -_LARGE < value < _LARGE:
        return hex(value)  # Python refuses to write thousands of decimal digits
    return str(value) if isinstance(value, str | int | float) else ""


_READERS: dict[str, Callable[[str], ReadName]] = {
    "header": _header_reader,
    "claim": _claim_reader,
    "body": _body_reader,
}


def place_text(sharer: Sharer) -> str:
    """A place for people: `header x-customer`."""
    return f"{sharer.kind} {sharer.name}"


def _missing(source: str, param: str) -> GatewayError:
    message = f"A limit counts requests by {source}, and this request has none that is accepted."
    return GatewayError(400, "limit_name_missing", message, param=param, retry=False)


DAY = 86_400.0


def tag_reader(
    places: Mapping[str, Sharer], tables: NameTables
) -> Callable[[Exchange], dict[str, str]]:
    """A function that gives the values of a request's tags by name. `places` are those of the tags.
    Within a day a tag has at most as many values as `tables` allow; further ones are one."""
    readers = [
        (name, read_place(place), tables.of(("tag", name), DAY).admit)
        for name, place in places.items()
    ]

    def read(exchange: Exchange) -> dict[str, str]:
        tags = {}
        for name, text_of, admit in readers:
            if text := text_of(exchange):
                tags[name] = admit(tag_value(text))
        return tags

    return read
