"""The policy `concurrency`."""

import pytest

from engine.config.routes import Policy
from engine.policies import guards
from engine.values.quota import Quota
from engine.values.quota_sharers import shared_by


@pytest.mark.parametrize(("by", "sharing"), [("token", shared_by("token")), ("all", shared_by())])
def test_its_quota(by, sharing):
    policy = Policy("concurrency", {"requests": 3, "by": by}, (), "")
    (rule,) = guards([policy], "USD").rules
    assert (rule.quota, rule.by) == (Quota("concurrency", 3), sharing)
