"""The policy `spend_limit`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.quota import Quota


@pytest.mark.parametrize("by", ["token", "all"])
def test_its_quota(by):
    policy = Policy("spend_limit", {"amount": 0.1, "per": "1h", "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("spend", 10**8, 3600.0), by)
