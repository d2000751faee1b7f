"""The policy `rate_limit`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.quota import Quota


@pytest.mark.parametrize("by", ["token", "all"])
def test_its_quota(by):
    policy = Policy("rate_limit", {"requests": 6, "per": "1m", "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("requests", 6, 60.0), by)
