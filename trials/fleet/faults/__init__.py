"""ONE FAULT = ONE FILE: `TITLE`, a docstring that states its law, and `run(bed)`, whose report
has the figures. They are found here by their place."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol, cast

from trials.fleet.bed import Bed
from trials.fleet.report import Report


class Fault(Protocol):
    """A module of this folder."""

    TITLE: str

    def run(self, bed: Bed) -> Report:
        """Bring on the fault, and report."""
        ...


FAULTS: dict[str, Fault] = {
    module.name: cast(Fault, importlib.import_module(f"{__name__}.{module.name}"))
    for module in pkgutil.iter_modules(__path__)
}
