"""How strictly requests are held against the document."""

from __future__ import annotations

from collections.abc import Iterator

from engine.diff.difference import Difference, Level, Side

_MODES = {
    "validate": ("strict", "lenient", "report", "off"),
    "unknown_fields": ("reject", "drop", "pass"),
}


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in new.routes.items():
        before = old.routes.get(name)
        if before is None:
            continue
        for key, modes in _MODES.items():
            was, now = getattr(before, key, modes[-1]), getattr(route, key, modes[-1])
            if was == now:
                continue
            weaker = modes.index(now) > modes.index(was)
            level = Level.WEAKER if weaker else Level.BREAKING
            kind = f"{key.replace('_', '-')}-{'weaker' if weaker else 'stricter'}"
            words = f"{key} is {now}, was {was}"
            yield Difference(level, kind, new.place(route.at), (name,), words)
