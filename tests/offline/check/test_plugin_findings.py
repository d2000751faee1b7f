"""What `check` says of distributions with plug-ins; tests/e2e/test_plugins.py installs some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import policies
from engine.offline.check.plugin_findings import note_plugins
from engine.plan.assembly.make_plan import make_plan
from engine.policies.interface import PolicyKind
from engine.values import installed_plugins
from engine.values.discovery import Plugins
from tests.support import distributions
from tests.support.commands import DOCUMENT, GOOD

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install `acme 1.5` with these entry points."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    kinds: Plugins[PolicyKind] = Plugins(
        "engine.policies", "POLICY", PolicyKind, group=installed_plugins.POLICIES
    )
    monkeypatch.setattr(policies, "KINDS", kinds)

    def add(entry_points: str) -> None:
        distributions.install(tmp_path / "site", "acme", entry_points)

    yield add
    installed_plugins.installed_plugins.cache_clear()


def noted(config: str = GOOD) -> list[tuple[str, str, str]]:
    planned = make_plan(Path("gateway.yaml"), {}, config)
    note_plugins(planned)
    return [
        (str(problem.level), problem.code, problem.message)
        for problem in planned.problems
        if problem.code in ("MW113", "MW114")
    ]


def test_without_a_distribution_there_is_nothing_to_say(install: Install) -> None:
    assert noted() == []


def test_a_distribution_is_named_with_what_it_brings(install: Install) -> None:
    install("[modelway.policies]\nnight = engine.policies.deny:POLICY\n")
    assert noted() == [("info", "MW114", "acme 1.5 brings policy 'night'")]


def test_one_that_cannot_be_used_is_a_warning_until_the_config_uses_it(install: Install) -> None:
    install("[modelway.policies]\ndeny = engine.policies.deny:POLICY\n")
    (text,) = (text for level, code, text in noted() if (level, code) == ("warning", "MW113"))
    assert text == (
        "the policy 'deny' of acme 1.5 has the name of one of Modelway's own, which it cannot "
        "replace"
    )
    config = f"{GOOD}policies: [{{deny: {{if: {{header: {{x-a: b}}}}}}}}]\n"
    assert {(level, code) for level, code, _ in noted(config)} == {
        ("error", "MW113"),
        ("info", "MW114"),
    }


def test_a_group_that_does_not_exist_is_a_warning(install: Install) -> None:
    install("[modelway.policy]\nnight = engine.policies.deny:POLICY\n")
    warnings = [text for level, _, text in noted() if level == "warning"]
    assert warnings == [
        "the plug-in 'night' of acme 1.5 is in the group 'modelway.policy', which is not one of "
        "modelway.policies, modelway.strategies, modelway.credentials, modelway.dialects"
    ]


def test_a_file_that_is_no_config_is_not_searched(install: Install) -> None:
    install("[modelway.policies]\nnight = engine.policies.deny:POLICY\n")
    assert noted("[") == []
