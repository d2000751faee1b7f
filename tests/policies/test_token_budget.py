"""The policy `token_budget`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.quota import Quota


@pytest.mark.parametrize("by", ["token", "all"])
def test_its_quota(by):
    policy = Policy("token_budget", {"tokens": 9, "per": "1d", "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("tokens", 9, 86_400.0), by)
