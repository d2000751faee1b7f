"""How the config stands: which one is served, since when, and what came of the last reload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.telemetry.metrics import definitions
from engine.values.metric import Reading


@dataclass(slots=True)
class ConfigStatus:
    """`hash` of the config that is served, `loaded` (Unix seconds) when it was read; `error` is
    why the last reload was refused, "" when it was taken, or none was asked for.

    Whoever reloads says so: `taken` or `refused`; or `source` is asked: hash, time and error, None
    when it does not know.
    """

    hash: str = ""
    loaded: float = 0.0
    error: str = ""
    source: Callable[[], tuple[str, float, str] | None] | None = None
    _former: set[str] = field(default_factory=set)

    def taken(self, hashed: str, now: float) -> None:
        """Another config is served from now on."""
        self._former.add(self.hash)
        self.hash, self.loaded, self.error = hashed, now, ""

    def refused(self, error: str) -> None:
        """A reload failed; what was served is served on. `error` is for operators, in one line."""
        self.error = error

    def look(self) -> None:
        """Ask the source, if there is one."""
        found = self.source() if self.source is not None else None
        if found is not None:
            hashed, loaded, error = found
            if (hashed, loaded) != (self.hash, self.loaded):
                self.taken(hashed, loaded)
            self.error = error

    def readings(self) -> Iterator[Reading]:
        self.look()
        for former in self._former - {self.hash, ""}:
            yield definitions.CONFIG, (former,), 0.0
        yield definitions.CONFIG, (self.hash,), 1.0
        yield definitions.CONFIG_LOADED, (), self.loaded
        yield definitions.RELOAD_OK, (), 0.0 if self.error else 1.0
