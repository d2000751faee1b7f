"""The entry points of Modelway's groups that distributions have."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.values import installed_plugins
from engine.values.installed_plugins import plugins_of
from tests.support.distributions import install

OTHER = "[console_scripts]\nacme = acme:main\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in which distributions are installed, the first of `sys.path`."""
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    installed_plugins.installed_plugins.cache_clear()
    yield tmp_path / "site"
    installed_plugins.installed_plugins.cache_clear()


def listed() -> list[str]:
    return [str(plugin) for plugin in installed_plugins.installed_plugins()]


def test_plugins_have_a_name_and_a_distribution(site: Path) -> None:
    install(site, "acme-two", f"{OTHER}[modelway.policies]\nnight = acme:POLICY\n")
    install(site, "acme-one", "[modelway.credentials]\nvault = acme:CREDENTIAL\n")
    assert listed() == [
        "the kind of credential 'vault' of acme-one 1.5",
        "the policy 'night' of acme-two 1.5",
    ]
    (plugin,) = plugins_of(installed_plugins.POLICIES)
    assert (plugin.name, plugin.entry_point.value) == ("night", "acme:POLICY")


def test_other_groups_are_none(site: Path) -> None:
    install(site, "acme", OTHER)
    assert listed() == []


def test_a_group_that_does_not_exist_is_listed(site: Path) -> None:
    install(site, "acme", "[modelway.policy]\nnight = acme:POLICY\n")
    assert listed() == ["the plug-in 'night' of acme 1.5"]
    assert plugins_of(installed_plugins.POLICIES) == []


def test_a_distribution_counts_where_python_finds_it_first(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[modelway.policies]\nnight = acme:POLICY\n"
    install(site, "acme", text)
    install(site.parent / "first", "acme", text, "2.0")
    monkeypatch.syspath_prepend(str(site.parent / "first"))
    assert listed() == ["the policy 'night' of acme 2.0"]


def test_an_object_is_imported_when_it_is_loaded(site: Path) -> None:
    install(site, "acme", "[modelway.policies]\nnight = acme_of_this_test:POLICY\n")
    (plugin,) = plugins_of(installed_plugins.POLICIES)
    (site / "acme_of_this_test.py").write_text("POLICY = 7")
    importlib.invalidate_caches()
    assert plugin.load() == 7
