"""The config in use: its hash, when it was read, and why the last reload was refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class ConfigStatus:
    """`hash` of the config in use, `loaded` (Unix seconds) when it was read; `error` is why the
    last reload was refused, "" if it was accepted or there was none.

    With a `source`, which returns hash, time and error, or None when it does not know them, the
    status is read from there.
    """

    hash: str = ""
    loaded: float = 0.0
    error: str = ""
    source: Callable[[], tuple[str, float, str] | None] | None = None

    def accept(self, config_hash: str, now: float) -> None:
        """Another config is in use from now on."""
        self.hash, self.loaded, self.error = config_hash, now, ""

    def refresh(self) -> None:
        """Read the status from the source, if there is one."""
        status = self.source() if self.source is not None else None
        if status is not None:
            self.hash, self.loaded, self.error = status
