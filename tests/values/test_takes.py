"""The fields of a request that bound its output."""

import pytest

from engine.values.takes import OutputFields

FIELDS = OutputFields(
    limits=(("max_tokens",), ("generationConfig", "maxOutputTokens")),
    answers=(("generationConfig", "candidateCount"), ("n",)),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("members", {"max_tokens", "generationConfig", "n"}),
        ("limit_members", {"max_tokens", "generationConfig"}),
        ("simple_limits", {"max_tokens"}),
    ],
)
def test_top_level_keys(name, expected):
    assert getattr(FIELDS, name) == expected


def test_no_fields_have_no_keys():
    assert OutputFields().members == frozenset()
