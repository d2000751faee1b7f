"""The plug-ins of a package: each is a module that defines a typed value under a constant's name,
`POLICY = StagePolicy(...)`, and is imported when it is used. Installed distributions bring others
(`installed_plugins.py`).

The law: a plug-in is known by its name, which is that of its module or entry point. A module or
folder called `interface` holds the types of the plug-ins, and is none. A name of the package itself
is never replaced. An installed plug-in that cannot be used is not among the `names`: `problem` says
why, and nothing else is affected.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Generic, TypeVar, cast

from engine.values.installed_plugins import InstalledPlugin, plugins_of

T = TypeVar("T")

HINT = "`modelway version` lists the plug-ins that are installed"
"""The hint for a plug-in that cannot be used."""

_INTERFACE = "interface"


class PluginError(Exception):
    """A plug-in that cannot be used; the message names its file, or its distribution."""


def modules_in(path: Iterable[str], without: Collection[str] = ()) -> list[pkgutil.ModuleInfo]:
    """The modules and folders on the `__path__` of a package, by name; none is imported. Left out
    are those `without`, and the types."""
    modules = (module for module in pkgutil.iter_modules(path) if module.name not in without)
    return sorted(
        (module for module in modules if module.name != _INTERFACE), key=lambda module: module.name
    )


def constant_of(module: str, name: str, *kinds: type) -> object:
    """The constant `name` of a module, which is imported. Raises PluginError, with the file, if it
    is missing or of none of the types `kinds`."""
    values = vars(import_module(module))
    return _checked(values.get(name), kinds, name, str(values.get("__file__", module)))


def _no_mistake(name: str, value: object) -> str:
    return ""


class Plugins(Generic[T]):
    """The plug-ins of a package.

    Each module defines the constant `name`, of one of the types `kinds`: classes, or FunctionType.
    `without` are modules of the package that are no plug-ins; with `folders`, only folders are.
    Distributions bring others as entry points of `group`, "" for none; `mistake` says what is wrong
    with a value under its name, "" for nothing.
    """

    def __init__(
        self,
        package: str,
        name: str,
        *kinds: type,
        without: Collection[str] = (),
        folders: bool = False,
        group: str = "",
        mistake: Callable[[str, T], str] = _no_mistake,
    ) -> None:
        self._package = package
        self._name = name
        self._kinds = kinds
        self._without = without
        self._folders = folders
        self._group = group
        self._mistake = mistake
        self._values: dict[str, T] = {}

    def names(self) -> list[str]:
        """The names of all plug-ins that can be used, sorted. Only those of distributions are
        imported."""
        return sorted({*self.shipped, *self.installed})

    def get(self, name: str) -> T:
        """The plug-in of that name. Raises PluginError for a name that is not one of `names()`."""
        if name not in self._values:
            self._values[name] = self._load(name)
        return self._values[name]

    def _load(self, name: str) -> T:
        if name in self.shipped:
            return cast(T, constant_of(f"{self._package}.{name}", self._name, *self._kinds))
        if name in self.installed:
            return self.installed[name]
        raise PluginError(self.problems.get(name, f"{self._package} has no plug-in '{name}'"))

    def all(self) -> list[T]:
        """All plug-ins, in the order of their names."""
        return [self.get(name) for name in self.names()]

    @cached_property
    def shipped(self) -> Collection[str]:
        """The names of the plug-ins of the package itself, sorted."""
        modules = modules_in(import_module(self._package).__path__, self._without)
        return tuple(module.name for module in modules if module.ispkg or not self._folders)

    def reject(self, name: str, reason: str) -> None:
        """Make an installed plug-in unusable, which turned out to be wrong only after it was
        loaded."""
        values, problems = self._of_distributions
        del values[name]
        self._values.pop(name, None)
        (plugin,) = (plugin for plugin in plugins_of(self._group) if plugin.name == name)
        problems[name] = f"{plugin}: {reason}"

    @property
    def installed(self) -> Mapping[str, T]:
        """The plug-ins of distributions that can be used, by name."""
        return self._of_distributions[0]

    @property
    def problems(self) -> Mapping[str, str]:
        """Why the others of distributions cannot be used, by name."""
        return self._of_distributions[1]

    @cached_property
    def _of_distributions(self) -> tuple[dict[str, T], dict[str, str]]:
        by_name: dict[str, list[InstalledPlugin]] = {}
        for plugin in plugins_of(self._group) if self._group else ():
            by_name.setdefault(plugin.name, []).append(plugin)
        values: dict[str, T] = {}
        problems: dict[str, str] = {}
        for name, plugins in by_name.items():
            try:
                values[name] = self._only(plugins)
            except PluginError as error:
                problems[name] = str(error)
        return values, problems

    def _only(self, plugins: list[InstalledPlugin]) -> T:
        """The value of the only plug-in of a name."""
        plugin, *others = plugins
        if plugin.name in self.shipped:
            raise PluginError(
                f"{plugin} has the name of one of Modelway's own, which it cannot replace"
            )
        if others:
            raise PluginError(f"{plugin} has the same name as {others[0]}")
        try:
            value = plugin.load()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(f"{plugin} cannot be loaded: {reason}") from error
        checked = cast(T, _checked(value, self._kinds, plugin.entry_point.value, str(plugin)))
        if mistake := self._mistake(plugin.name, checked):
            raise PluginError(f"{plugin}: {mistake}")
        return checked


def _checked(value: object, kinds: tuple[type, ...], name: str, owner: str) -> object:
    if isinstance(value, kinds):
        return value
    cause = "is missing" if value is None else f"is of the type {type(value).__name__}"
    expected = " or ".join(kind.__name__ for kind in kinds)
    raise PluginError(f"{owner}: {name} {cause}; it must be a {expected}")
