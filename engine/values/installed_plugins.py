"""Plug-ins that installed distributions bring, as entry points (the "Entry points specification" of
the Python Packaging User Guide):

    [project.entry-points."modelway.policies"]
    office_hours = "acme_modelway.office_hours:POLICY"

They are looked up once in a process, where Python imports modules from. No file of a config names
code: whoever writes a config can use what is installed, and load nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

POLICIES = "modelway.policies"
STRATEGIES = "modelway.strategies"
CREDENTIALS = "modelway.credentials"
DIALECTS = "modelway.dialects"

KINDS = {
    POLICIES: "policy",
    STRATEGIES: "strategy",
    CREDENTIALS: "kind of credential",
    DIALECTS: "dialect",
}
"""The groups of entry points, and what a plug-in of each is called."""

_PREFIX = "modelway."


class InstalledPlugin(NamedTuple):
    """An entry point of a group of Modelway's: its name, the object that it names, and the
    distribution with its version. It is not imported yet."""

    entry_point: EntryPoint
    distribution: str
    version: str

    @property
    def name(self) -> str:
        return self.entry_point.name

    @property
    def group(self) -> str:
        return self.entry_point.group

    def load(self) -> object:
        """The object, imported. Raises what its modules raise."""
        value: object = self.entry_point.load()
        return value

    @property
    def owner(self) -> str:
        """The distribution for people: `acme-modelway 1.0`."""
        return f"{self.distribution} {self.version}"

    @property
    def kind(self) -> str:
        """What it is called: `policy`."""
        return KINDS.get(self.group, "plug-in")

    def __str__(self) -> str:
        return f"the {self.kind} '{self.name}' of {self.owner}"


def plugins_of(group: str) -> list[InstalledPlugin]:
    """The installed plug-ins of a group."""
    return [plugin for plugin in installed_plugins() if plugin.group == group]


@cache
def installed_plugins() -> tuple[InstalledPlugin, ...]:
    """All installed plug-ins, sorted by distribution, those of unknown groups as well. A
    distribution that is installed twice counts where Python finds it first."""
    by_distribution: dict[str, list[InstalledPlugin]] = {}
    metadata = import_module("importlib.metadata")  # the import is slow, and few commands need it
    for distribution in metadata.distributions():
        # Reading the text is cheap; parsing the entry points of every distribution is not.
        if _PREFIX in (distribution.read_text("entry_points.txt") or ""):
            by_distribution.setdefault(distribution.name, [*_plugins(distribution)])
    return tuple(plugin for name in sorted(by_distribution) for plugin in by_distribution[name])


def _plugins(distribution: Distribution) -> Iterator[InstalledPlugin]:
    for entry_point in distribution.entry_points:
        if entry_point.group.startswith(_PREFIX):
            yield InstalledPlugin(entry_point, distribution.name, distribution.version)
