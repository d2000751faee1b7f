"""The policy `transform`: bound to the room of transforms, checked like every other."""

from engine.config.routes import Policy
from engine.policies import guards, transform_of

OPTIONS = {"request": {"query": {"remove": ["a"]}}}


def test_a_policy_is_a_transform_with_its_place():
    policy = Policy("transform", OPTIONS, ("policies", 0, "transform"))
    (transform,) = guards([policy, Policy("max_body", "1KB", ())], "USD").transforms
    assert (transform.options, transform.at) == (OPTIONS, policy.at)


def test_other_policies_have_no_transform():
    assert transform_of(Policy("max_body", "1KB", ())) == ()
