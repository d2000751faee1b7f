"""The policy `allow_operations`."""

import pytest

from engine.policies.allow_operations import POLICY
from tests.support.policies import passes


@pytest.mark.parametrize(("operation", "may"), [("openai.chat", True), ("other.chat", False)])
def test_only_listed_operations_pass(operation, may):
    assert passes(POLICY, ["openai.*"], operation=operation) is may
