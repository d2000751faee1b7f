"""How the config stands: which one is served, since when, and what came of the last reload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.telemetry import names
from engine.telemetry.names import Reading


@dataclass(slots=True)
class Standing:
    """`hash` of the config that is served, `loaded` (Unix seconds) when it was read; `error` is
    why the last reload was refused, "" when it was taken, or none was asked for.

    Whoever reloads says so: `taken` or `refused`.
    """

    hash: str = ""
    loaded: float = 0.0
    error: str = ""
    _former: set[str] = field(default_factory=set)

    def taken(self, hashed: str, now: float) -> None:
        """Another config is served from now on."""
        self._former.add(self.hash)
        self.hash, self.loaded, self.error = hashed, now, ""

    def refused(self, error: str) -> None:
        """A reload failed; what was served is served on. `error` is for operators, in one line."""
        self.error = error

    def readings(self) -> Iterator[Reading]:
        for former in self._former - {self.hash, ""}:
            yield names.CONFIG, (former,), 0.0
        yield names.CONFIG, (self.hash,), 1.0
        yield names.CONFIG_LOADED, (), self.loaded
        yield names.RELOAD_OK, (), 0.0 if self.error else 1.0
