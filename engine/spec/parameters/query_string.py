"""A query string, or an urlencoded form body, split once per request.

Text is as in WSGI: bytes decoded as Latin-1, still percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import quote, unquote_to_bytes

from engine.process.loop_turn import paced_if_many
from engine.spec.parameters.bracket_names import split_name
from engine.values.errors import Malformed

_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


def unsafe_query(raw: str) -> str | None:
    """The reason why a raw query string must not reach an upstream, or None."""
    if "#" in raw:
        return "the query string: it has a '#'"
    if "%" not in raw and raw.isascii():
        return None
    try:
        decode(raw, "the query string")
    except Malformed as error:
        return str(error)
    return None


def decode(text: str, where: str, *, plus: bool = False) -> str:
    """Percent-decode UTF-8; with `plus`, "+" is a space. Raises Malformed; its message begins with
    `where`."""
    if plus:
        text = text.replace("+", " ")
    if "%" not in text and text.isascii():
        return text
    if bad := _BAD_ESCAPE.search(text):
        raise Malformed(
            f"{where}: the % at character {bad.start() + 1} is not followed by two hex digits"
        )
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeError as error:
        raise Malformed(f"{where}: not valid UTF-8") from error


class Query:
    """A query string, split once per request: `pairs` of decoded name and undecoded value."""

    __slots__ = ("_nested", "_segments", "_values", "pairs", "raw")

    def __init__(self, raw: str, where: str) -> None:
        self.raw = raw
        self.pairs: list[tuple[str, str]] = []
        self._segments: list[tuple[str | None, str]] = []
        self._values: dict[str, list[str]] = {}
        self._nested: dict[str, list[tuple[str, str]]] = {}
        for segment in paced_if_many(raw.split("&"), len(raw)):
            if not segment:
                self._segments.append((None, segment))
                continue
            coded, _, value = segment.partition("=")
            name = decode(coded, where, plus=True)
            self._segments.append((name, segment))
            self.pairs.append((name, value))
            self._values.setdefault(name, []).append(value)
            if "[" in name:
                root, brackets = split_name(name)
                self._nested.setdefault(root, []).append((brackets, value))

    @classmethod
    def parse(cls, raw: str, where: str = "query string") -> Query:
        """Split `raw`, without its "?"; raises Malformed for a name that cannot be decoded."""
        return cls(raw, where)

    def names(self) -> list[str]:
        """The decoded names in order, with repetitions."""
        return [name for name, _ in self.pairs]

    def items(self) -> list[tuple[str, str]]:
        """Every name and value in order, both decoded; raises Malformed."""
        return [
            (name, decode(value, f"query parameter {name!r}", plus=True))
            for name, value in self.pairs
        ]

    def get(self, name: str) -> str | None:
        """The first value of `name`, decoded; raises Malformed."""
        values = self._values.get(name)
        return decode(values[0], f"query parameter {name!r}", plus=True) if values else None

    def values(self, name: str) -> list[str]:
        """Every value of exactly this name, undecoded."""
        return self._values.get(name, [])

    def nested(self, name: str) -> list[tuple[str, str]]:
        """`("[a][b]", value)` of every parameter `name[a][b]`, the value undecoded."""
        return self._nested.get(name, [])

    def segments(self) -> list[tuple[str | None, str]]:
        """The decoded name of each parameter (None for an empty one) and its text as sent."""
        return self._segments

    def without(self, names: Collection[str]) -> str:
        """The raw query string without these parameters, every other byte unchanged."""
        return "&".join(segment for name, segment in self._segments if name not in names)

    def replace(self, name: str, value: str) -> str:
        """The raw query string with one `name=value`, every other byte unchanged.

        It replaces the first one, or is added at the end; repetitions are removed, so that no
        upstream reads an old value.
        """
        coded = quote(value, safe="")
        segments: list[str] = []
        replaced = False
        for segment_name, segment in self._segments:
            if segment_name != name:
                segments.append(segment)
            elif not replaced:
                segments.append(f"{segment.partition('=')[0]}={coded}")
                replaced = True
        if replaced:
            return "&".join(segments)
        parameter = f"{quote(name, safe='')}={coded}"
        return f"{self.raw}&{parameter}" if self.raw else parameter
