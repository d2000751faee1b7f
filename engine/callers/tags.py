"""The tags of a request, from the headers, claims and members of the body that the config names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.callers.limits.request_names import read_place
from engine.exchange.exchange import Exchange
from engine.values.bounded_names import NameTables
from engine.values.quota_sharers import Sharer
from engine.values.tags import tag_value

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
