"""The policy `concurrency`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.quota import Quota


@pytest.mark.parametrize("by", ["token", "all"])
def test_its_quota(by):
    policy = Policy("concurrency", {"requests": 3, "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("concurrency", 3), by)
