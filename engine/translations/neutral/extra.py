"""Members that only their own language knows, kept beside what the neutral form has of a value."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import Extra

_MEMBERS = msgspec.json.Decoder(dict[str, Raw])


def extra_inside(name: str, extra: Extra) -> Extra:
    """The unknown members of the object `name`, as one unknown member of what it stands in."""
    return {name: Raw(msgspec.json.encode(extra))} if extra else {}


def add_extra(written: dict[str, Any], extra: Extra) -> None:
    """Add unknown members to an object that is written. Those of an object inside of it that is
    written, too, join the members of that object."""
    for name, raw in extra.items():
        inner = written.get(name)
        if isinstance(inner, dict):
            written[name] = {**inner, **_MEMBERS.decode(raw)}
        else:
            written[name] = raw
