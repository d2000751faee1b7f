"""The policy `allow_models`."""

import pytest

from engine.policies.allow_models import POLICY
from tests.support.policies import passes


@pytest.mark.parametrize(
    ("model", "may"), [("gpt-4o", True), ("claude", True), ("claude-2", False), ("", True)]
)
def test_only_listed_models_pass(model, may):
    assert passes(POLICY, ["gpt*", "claude"], model=model) is may
