"""Checks that no two edits of a transform touch one header or parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.source.problem import Path
from engine.transforms.faults import CONFLICT, RESERVED, Faults


class EditedNames:
    """The names that the edits at one place touch. Each may occur once, and none of `reserved`,
    which gives the reason by name.

    `default` and `add` may name the target of a `rename`: they set it if it is still missing. With
    `lower`, names are compared in lower case, as headers are.
    """

    def __init__(
        self,
        at: Path,
        faults: Faults,
        reserved: Mapping[str, str] | None = None,
        *,
        lower: bool = False,
    ) -> None:
        self._at = at
        self._faults = faults
        self._reserved = reserved or {}
        self._lower = lower
        self._kinds: dict[str, str] = {}
        self._targets: set[str] = set()

    def read(self, section: Mapping[str, Any]) -> None:
        """Note every edit of a section by its kind."""
        for index, name in enumerate(section.get("remove", ())):
            self._note(name, "remove", (*self._at, "remove", index), key=False)
        for old, new in section.get("rename", {}).items():
            at = (*self._at, "rename", old)
            self._note(old, "rename", at, key=True)
            self._note(new, "rename", at, key=False)
            self._targets.add(self._fold(new))
        for kind in ("default", "add", "set"):
            for name in section.get(kind, ()):
                self._note(name, kind, (*self._at, kind, name), key=True)

    def _note(self, name: str, kind: str, at: Path, *, key: bool) -> None:
        folded = self._fold(name)
        if folded in self._reserved:
            message = f"'{name}' cannot be edited"
            self._faults.add(at, RESERVED, message, self._reserved[folded], key=key)
        if kind in ("default", "add") and folded in self._targets:
            return
        if (other := self._kinds.get(folded)) is not None:
            message = f"'{name}' is edited twice, by '{other}' and by '{kind}'"
            self._faults.add(at, CONFLICT, message, "keep one of the two", key=key)
        self._kinds[folded] = kind

    def _fold(self, name: str) -> str:
        return name.lower() if self._lower else name
