"""Policies as a config lists them: steps before and after the body, and limits."""

from importlib import import_module

import pytest

from engine import policies
from engine.config.routes import Policy
from engine.policies import guards
from engine.policies.interface import StagePolicy
from tests.support.each import each


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
    assert [len(compiled.early), len(compiled.models), len(compiled.rules)] == [2, 1, 1]


DENY = ("deny", {"if": {"body": {"n": 1}}})
TRANSFORM = ("transform", {"request": {"body": {"set": {"n": 1}}}})


@each(
    ("names", "runs"),
    [
        (["max_body", "deny"], ["before the body", "as written"]),
        (["deny", "max_body"], ["as written", "before the body"]),
        (["allow_models", "deny"], ["before validation", "as written"]),
        (["deny", "allow_models"], ["as written", "as written"]),
        (["transform", "allow_models", "deny"], ["as written"] * 3),
        (["deny", "rate_limit", "token_budget"], ["as written", "before the body", "last"]),
    ],
)
def test_a_policy_runs_when_what_it_judges_is_known(names, runs):
    options = {
        **dict([DENY, TRANSFORM]),
        "max_body": "1KB",
        "allow_models": ["a"],
        "rate_limit": {"requests": 6, "per": "1m"},
        "token_budget": {"tokens": 6, "per": "1m"},
    }
    policies_listed = listed(*((name, options[name]) for name in names))
    timed = policies.moments(policies_listed, "USD", by_model=True)
    assert [(policy.name, str(moment)) for policy, moment in timed] == [
        *zip(names, runs, strict=True)
    ]


@each(
    ("name", "by", "runs"),
    [
        ("rate_limit", "token", "before the body"),
        ("rate_limit", "route", "before the body"),
        ("rate_limit", "all", "before the body"),
        ("rate_limit", "model", "last"),
        ("rate_limit", "upstream", "last"),
        ("token_budget", "token", "last"),
    ],
)
def test_a_limit_waits_for_the_model_only_where_it_depends_on_it(name, by, runs):
    amount = {"tokens" if name == "token_budget" else "requests": 6}
    policies_listed = listed((name, {**amount, "per": "1m", "by": by}))
    for by_model, expected in ((True, runs), (False, "before the body")):
        ((_, moment),) = policies.moments(policies_listed, "USD", by_model=by_model)
        assert str(moment) == expected


def test_transforms_and_the_policies_that_judge_them_keep_their_order():
    names, size = ("allow_models", ["a"]), ("max_body", "1KB")
    compiled = guards(listed(DENY, TRANSFORM, names, size, TRANSFORM, DENY), "USD")
    kinds = [getattr(step, "name", "transform") for step in compiled.written]
    assert kinds == ["deny", "transform", "allow_models", "transform", "deny"]
    assert [step.name for step in compiled.early] == ["max_body"]


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
        assert policies.KINDS.get(name).schema["description"].endswith(".")
        assert f"`{name}: " in import_module(f"engine.policies.{name}").__doc__


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
    (step,) = (*compiled.early, *compiled.models, *compiled.written)
    assert {step: 1}[step]


def test_those_are_all_policies_that_are_stages():
    stages = [
        name for name in policies.names() if isinstance(policies.KINDS.get(name), StagePolicy)
    ]
    assert stages == ["allow_ips", "allow_models", "allow_operations", "deny", "guard", "max_body"]
