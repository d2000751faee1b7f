"""The policy `allow_operations`."""

import pytest

from engine.policies import allow_operations
from tests.support.policies import passes


@pytest.mark.parametrize(("operation", "may"), [("openai.chat", True), ("other.chat", False)])
def test_only_listed_operations_pass(operation, may):
    assert passes(allow_operations, ["openai.*"], operation=operation) is may
