"""Plug-ins are typed values, found by their place or brought by distributions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

import pytest

from engine.values import installed_plugins
from engine.values.discovery import PluginError, Plugins, constant_of, modules_in
from tests.support import distributions

HERE = __name__.replace(".", "_")
GROUP = installed_plugins.POLICIES


@dataclass(frozen=True)
class Colour:
    """The type of the plug-ins of this test."""

    name: str


MODULE = "from {here} import Colour\n\nCOLOUR = Colour({name!r})\n"
Install = Callable[..., None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `paints` with the plug-ins `blue` and `red`, a folder of types and another one."""
    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "paints"
    for part in ("", "interface", "brushes"):
        (folder / part).mkdir()
        (folder / part / "__init__.py").touch()
    for name in ("red", "blue"):
        (folder / f"{name}.py").write_text(MODULE.format(here=HERE, name=name))
    installed_plugins.installed_plugins.cache_clear()
    importlib.invalidate_caches()
    yield folder
    installed_plugins.installed_plugins.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("paints", "acme")]:
        del sys.modules[name]


@pytest.fixture
def install(package: Path) -> Install:
    """Install a distribution with entry points, and the module `acme` that they name."""

    def add(name: str, source: str = "", group: str = GROUP, **entry_points: str) -> None:
        site = package.parent
        (site / "acme.py").write_text(source)
        lines = [f"{key} = {value}" for key, value in entry_points.items()]
        distributions.install(site, name, "\n".join([f"[{group}]", *lines, ""]))

    return add


def plugins(group: str = "", **more: bool) -> Plugins[Colour]:
    return Plugins("paints", "COLOUR", Colour, without=("brushes",), group=group, **more)


def test_names_are_those_of_the_modules_which_are_not_imported(package: Path) -> None:
    assert plugins().names() == ["blue", "red"]
    assert "paints.red" not in sys.modules


def test_a_plugin_is_the_value_of_its_module(package: Path) -> None:
    assert plugins().get("red") == Colour("red")
    assert plugins().all() == [Colour("blue"), Colour("red")]


def test_only_folders_may_be_plugins(package: Path) -> None:
    found = Plugins[Colour]("paints", "COLOUR", Colour, folders=True)
    assert found.names() == ["brushes"]


def test_modules_are_listed_by_name_without_the_types(package: Path) -> None:
    modules = modules_in([str(package)], without=("red",))
    assert [module.name for module in modules] == ["blue", "brushes"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "COLOUR is missing; it must be a Colour"),
        ("COLOUR = 'red'", "COLOUR is of the type str; it must be a Colour"),
    ],
)
def test_a_module_without_the_value_is_named(package: Path, source: str, reason: str) -> None:
    file = package / "red.py"
    file.write_text(source)
    with pytest.raises(PluginError) as excinfo:
        plugins().get("red")
    assert str(excinfo.value) == f"{file}: {reason}"


def test_an_unknown_name_is_an_error(package: Path) -> None:
    with pytest.raises(PluginError, match="paints has no plug-in 'green'"):
        plugins().get("green")


def test_a_value_may_be_a_function(package: Path) -> None:
    (package / "red.py").write_text("def mix(): return 7")
    mix = constant_of("paints.red", "mix", FunctionType)
    assert isinstance(mix, FunctionType)
    assert mix() == 7


def test_a_distribution_brings_a_plugin(install: Install) -> None:
    install("acme-paints", MODULE.format(here=HERE, name="green"), green="acme:COLOUR")
    found = plugins(GROUP)
    assert found.names() == ["blue", "green", "red"]
    assert found.get("green") == Colour("green")
    assert (found.problems, list(found.installed)) == ({}, ["green"])


def test_a_group_has_its_own_plugins_only(install: Install) -> None:
    install("acme-paints", MODULE.format(here=HERE, name="green"), green="acme:COLOUR")
    assert plugins(installed_plugins.DIALECTS).names() == ["blue", "red"]


@pytest.mark.parametrize(
    ("name", "source", "value", "problem"),
    [
        (
            "red",
            MODULE.format(here=HERE, name="red"),
            "acme:COLOUR",
            "the policy 'red' of acme-paints 1.5 has the name of one of Modelway's own, which it "
            "cannot replace",
        ),
        (
            "green",
            "import no_such_module",
            "acme:COLOUR",
            "the policy 'green' of acme-paints 1.5 cannot be loaded: "
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        (
            "green",
            "COLOUR = 7",
            "acme:COLOUR",
            "the policy 'green' of acme-paints 1.5: acme:COLOUR is of the type int; "
            "it must be a Colour",
        ),
    ],
)
def test_one_that_cannot_be_used_is_a_problem_and_leaves_the_others(
    install: Install, name: str, source: str, value: str, problem: str
) -> None:
    install("acme-paints", source, **{name: value})
    found = plugins(GROUP)
    assert found.problems == {name: problem}
    assert found.names() == ["blue", "red"]
    assert found.get("red") == Colour("red")


def test_the_name_of_an_unusable_plugin_is_an_error_with_its_problem(install: Install) -> None:
    install("acme-paints", "", green="acme:COLOUR")
    with pytest.raises(PluginError, match="of acme-paints"):
        plugins(GROUP).get("green")


def test_two_distributions_with_one_name_are_a_problem(install: Install) -> None:
    source = MODULE.format(here=HERE, name="green")
    install("acme-paints", source, green="acme:COLOUR")
    install("other-paints", source, green="acme:COLOUR")
    assert plugins(GROUP).problems == {
        "green": "the policy 'green' of acme-paints 1.5 has the same name as the policy 'green' of "
        "other-paints 1.5"
    }


def test_one_that_is_rejected_later_is_a_problem_from_then_on(install: Install) -> None:
    install("acme-paints", MODULE.format(here=HERE, name="green"), green="acme:COLOUR")
    found = plugins(GROUP)
    assert found.get("green") == Colour("green")
    found.reject("green", "it fades")
    assert found.names() == ["blue", "red"]
    assert found.problems == {"green": "the policy 'green' of acme-paints 1.5: it fades"}
    with pytest.raises(PluginError, match="it fades"):
        found.get("green")


def test_a_value_may_contradict_its_name(install: Install) -> None:
    def mistake(name: str, colour: Colour) -> str:
        return "" if colour.name == name else f"it is {colour.name}"

    install("acme-paints", MODULE.format(here=HERE, name="grey"), green="acme:COLOUR")
    found = Plugins[Colour](
        "paints", "COLOUR", Colour, without=("brushes",), group=GROUP, mistake=mistake
    )
    assert found.problems == {"green": "the policy 'green' of acme-paints 1.5: it is grey"}


def test_a_value_may_have_one_of_several_types(package: Path) -> None:
    assert constant_of("paints.red", "COLOUR", str, Colour) == Colour("red")
    with pytest.raises(PluginError, match="it must be a str or int"):
        constant_of("paints.red", "COLOUR", str, int)
