"""Which regions of an upstream are among the required ones."""

import pytest

from engine.upstream.models.regions import are_within, region_text


@pytest.mark.parametrize(
    ("regions", "lists", "expected"),
    [
        (["eu"], [("eu",)], True),
        (["us"], [("eu",)], False),
        (["eu", "us"], [("eu",)], False),
        (["eu", "us"], [("us", "eu")], True),
        (["eu-west"], [("eu-*",)], True),
        (["eu-west"], [("eu-*",), ("eu-north",)], False),
        ([], [("*",)], False),
    ],
)
def test_every_region_must_match_each_list(regions, lists, expected):
    assert are_within(regions, tuple(lists)) is expected


def test_a_requirement_is_a_text():
    assert region_text((("eu", "ch"), ("eu-*",))) == "eu or ch and eu-*"
