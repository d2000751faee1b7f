"""Changes of a policy that a distribution brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import policies
from engine.offline.diff.difference import Effect, differences_between
from engine.policies.interface import StagePolicy
from engine.values.discovery import Plugins
from engine.values.installed_plugins import POLICIES, installed_plugins
from tests.support.distributions import install
from tests.support.rehearsing import CONFIG, patched, planned


def test_another_option_of_a_plugin_may_protect_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    entry_point = f"[{POLICIES}]\nonly = engine.policies.allow_operations:POLICY\n"
    install(tmp_path / "site", "acme", entry_point)
    kinds = Plugins[StagePolicy[object]](
        "engine.policies", "POLICY", policies.LimitPolicy, StagePolicy, group=POLICIES
    )
    monkeypatch.setattr(policies, "KINDS", kinds)
    try:
        before, after = (
            planned(tmp_path / pattern[:1], patched(CONFIG, {"policies": [{"only": [pattern]}]}))
            for pattern in ("a.*", "shop.*")
        )
        (difference,) = differences_between(before, after)
    finally:
        installed_plugins.cache_clear()
    assert (difference.level, difference.kind) == (Effect.WEAKER, "policy-changed")
    assert difference.message.startswith("it may protect less: only is ")
