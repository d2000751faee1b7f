"""Edits of header fields: remove, rename, add, set, in this order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from engine.exchange.environ_headers import environ_key
from engine.exchange.member_protocols import Headers
from engine.transforms.template import Template, TemplateValues
from engine.values.errors import GatewayError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class HeaderEdits(Struct, frozen=True):
    """Edits of the headers of a request or a response; all names are in lower case.

    `rename` moves every value to the new name; if a header of that name exists, that one stays.
    `add` sets a header that is missing. `set` replaces all headers of its name.
    """

    remove: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)
    add: Mapping[str, Template] = field(default_factory=dict)
    set: Mapping[str, Template] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.remove or self.rename or self.add or self.set)

    def apply(self, headers: Headers, values: TemplateValues, *, request: bool = True) -> Headers:
        """The headers after the edits. In a `request`, a caller's header that is not forwarded can
        still be renamed. Raises GatewayError 400 for a value that is not valid in a header."""
        result = [pair for pair in headers if pair[0] not in self.remove]
        for old, new in self.rename.items():
            result = _rename(result, old, new, values if request else None)
        if self.add:
            names = {name for name, _ in result}
            result += _filled((p for p in self.add.items() if p[0] not in names), values)
        if self.set:
            fields = _filled(self.set.items(), values)
            names = {name for name, _ in fields}
            result = [pair for pair in result if pair[0] not in names] + fields
        return result


def _rename(headers: Headers, old: str, new: str, values: TemplateValues | None) -> Headers:
    moved = [(new, value) for name, value in headers if name == old]
    if not moved and values is not None:
        value = values.exchange.header(environ_key(old))
        moved = [] if value is None else [(new, value)]
    if any(name == new for name, _ in headers):
        moved = []
    return [pair for pair in headers if pair[0] != old] + moved


def _filled(
    templates: Iterable[tuple[str, Template]], values: TemplateValues
) -> list[tuple[str, str]]:
    """The fields whose templates have a value."""
    fields = []
    for name, template in templates:
        text = template.fill(values)
        if text is None:
            continue
        if template.constant is None:
            text = header_text(name, text)
        fields.append((name, text))
    return fields


def header_text(name: str, text: str) -> str:
    """Text in the form of WSGI and of the client: its UTF-8 bytes as Latin-1. Raises GatewayError
    400 for a control character."""
    if _CONTROL.search(text):
        message = f"A value of this request is not valid in the header '{name}'."
        raise GatewayError(400, "invalid_value", message)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("latin-1")
