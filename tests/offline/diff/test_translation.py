"""The levels of changes of `translate` and `drop`, where requests are really translated."""

import functools

import pytest

from engine.offline.diff.difference import differences_between
from tests.support.translating import CONFIG, translating

MODEL = "  claude-model: {to: [{upstream: anthropic, model: claude-sonnet-4-5}], "


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory):
    """Plans a setting of claude-model, once."""

    @functools.cache
    def plan(setting):
        text = CONFIG.replace(f"{MODEL}translate: strict}}", f"{MODEL}{setting}}}")
        return translating(tmp_path_factory.mktemp("side") / "project", text)

    return plan


@pytest.fixture(scope="module")
def levels(plan_of):
    """Kind and level of each difference between two settings of claude-model."""

    def compare(old, new):
        differences = differences_between(plan_of(old), plan_of(new))
        return {(str(difference.level), difference.kind) for difference in differences}

    return compare


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("off", "strict", "changed"),
        ("off", "lossy", "changed"),
        ("strict", "lossy", "changed"),
        ("lossy", "strict", "breaking"),
        ("strict", "off", "breaking"),
        ("lossy", "off", "breaking"),
    ],
)
def test_a_change_of_translate_breaks_whom_it_refuses(levels, old, new, level):
    kinds = levels(f"translate: {old}", f"translate: {new}")
    assert kinds == {(level, "model-translate")}


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("[]", "[logit_bias]", "changed"),
        ("[logit_bias]", "[]", "breaking"),
        ("[logit_bias]", '["logit_*"]', "changed"),
        ('["logit_*"]', "[logit_bias]", "breaking"),
    ],
)
def test_a_field_that_may_no_longer_be_dropped_breaks_its_callers(levels, old, new, level):
    kinds = levels(f"translate: strict, drop: {old}", f"translate: strict, drop: {new}")
    assert kinds == {(level, "model-drop")}


def test_drop_counts_for_nothing_where_everything_may_be_dropped(levels):
    kinds = levels("translate: lossy, drop: [n]", "translate: lossy, drop: []")
    assert kinds == {("changed", "model-drop")}
