"""Members that only their own language knows, kept in addition to the neutral form of a value."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import Extra
from engine.translations.neutral.members import OBJECT


def extra_inside(name: str, extra: Extra) -> Extra:
    """The unknown members of the object `name`, as one unknown member of the object around it."""
    return {name: Raw(msgspec.json.encode(extra))} if extra else {}


def add_extra(written: dict[str, Any], extra: Extra) -> None:
    """Add unknown members to an object. If it has an object of the same name, they are merged into
    that object."""
    for name, raw in extra.items():
        inner = written.get(name)
        if isinstance(inner, dict):
            written[name] = {**inner, **OBJECT.decode(raw)}
        else:
            written[name] = raw
