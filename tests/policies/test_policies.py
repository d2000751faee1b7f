"""Policies as a config lists them: steps before and after the model, and limits."""

import pytest

from engine import policies
from engine.config.routes import Policy
from engine.policies import guards


def listed(*pairs, group=""):
    return [Policy(name, options, (), group) for name, options in pairs]


def test_each_policy_becomes_a_step_or_a_rule():
    compiled = guards(
        listed(
            ("allow_models", ["a"]),
            ("max_body", "1KB"),
            ("rate_limit", {"requests": 6, "per": "1m"}),
            ("allow_operations", ["a.*"]),
        ),
        "USD",
    )
    assert [len(compiled.early), len(compiled.late), len(compiled.rules)] == [2, 1, 1]


def test_the_name_of_a_limit_does_not_depend_on_its_position():
    rate, slots = ("rate_limit", {"requests": 6, "per": "1m"}), ("concurrency", {"requests": 3})
    first, second = (
        guards(order, "USD").rules for order in (listed(rate, slots), listed(slots, rate))
    )
    assert {rule.name for rule in first} == {rule.name for rule in second}


def test_limits_that_differ_are_counted_separately():
    rate = ("rate_limit", {"requests": 6, "per": "1m"})
    every = [
        *listed(rate, rate, ("rate_limit", {"requests": 6, "per": "1h"})),
        *listed(("rate_limit", {"requests": 6, "per": "1m", "by": "all"})),
        *listed(rate, group="a.b"),
        *listed(rate, group="a.c"),
    ]
    assert len({rule.name for rule in guards(every, "USD").rules}) == 6


def test_every_policy_has_a_description_and_a_manual():
    for name in policies.names():
        module = policies.get(name)
        assert module.SCHEMA["description"].endswith(".")
        assert [hasattr(module, kind) for kind in ("build", "quota", "transform")].count(True) == 1
        assert f"`{name}: " in module.__doc__


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("allow_ips", ["10.0.0.0/8"]),
        ("allow_models", ["a*"]),
        ("allow_operations", ["a.*"]),
        ("deny", {"if": {"body": {"n": 1}, "header": {"x": {"enum": ["a"]}}}}),
        ("max_body", "1KB"),
    ],
)
def test_the_stages_of_policies_can_be_shared_by_their_options(name, options):
    compiled = guards(listed((name, options)), "USD")
    (step,) = (*compiled.early, *compiled.checks, *compiled.late)
    assert {step: 1}[step]


def test_those_are_all_policies_that_are_stages():
    stages = [name for name in policies.names() if hasattr(policies.get(name), "build")]
    assert stages == ["allow_ips", "allow_models", "allow_operations", "deny", "max_body"]
