"""What a request used."""

import pytest

from engine.values.usage import OutputFields, Usage


@pytest.mark.parametrize(
    ("first", "second", "sum_is"),
    [
        ("upstream", "upstream", "upstream"),
        ("upstream", "estimated", "estimated"),
        ("none", "upstream", "upstream"),
        ("none", "none", "none"),
    ],
)
def test_a_sum_is_as_sure_as_its_least_sure_part(first, second, sum_is):
    both = Usage(input=1, seconds=0.5, source=first) + Usage(input=2, output=3, source=second)
    assert both == Usage(input=3, output=3, seconds=0.5, source=sum_is)
    assert both.input + both.output == 6


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


def test_a_cache_that_was_added_to_an_input_with_it_is_taken_off_again():
    usage = Usage(input=40, cached=15, cache_write=5, output=3, source="upstream")
    once = Usage(input=20, cached=15, cache_write=5, output=3, source="upstream")
    assert usage.without_cache_twice() == once
    assert Usage(input=20, cached=15).without_cache_twice().input == 15  # it did not include it


def test_no_fields_have_no_keys():
    assert OutputFields().members == frozenset()


@pytest.mark.parametrize(
    ("body", "several"),
    [
        ({"n": 2}, True),
        ({"n": "2"}, True),
        ({"generationConfig": {"candidateCount": 3}}, True),
        ({"n": 1}, False),
        ({"n": None}, False),
        ({"generationConfig": {"maxOutputTokens": 3}}, False),
        ({"generationConfig": 2}, False),
        ([{"n": 2}], False),
    ],
)
def test_a_request_may_want_several_answers(body, several):
    assert FIELDS.wants_several(body) is several
