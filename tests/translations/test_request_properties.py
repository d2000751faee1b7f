"""What two languages can both say survives the way from one to the other and back.

`FEATURES` of `tests/support/request_strategies.py` lists what each can say.
`MODELWAY_EXAMPLES=2000` tries more requests than the tests of every day do.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language, languages, target_languages
from engine.translations.translation import LossRules, Translation
from tests.support.exact_json import objects_of, read_tree, write_tree
from tests.support.request_strategies import (
    FEATURES,
    MODELS,
    line_of,
    meaning_of,
    requests,
    written_in,
)
from tests.support.thorough import examples

EXAMPLES = examples(12)
NAMES = [each.name for each in languages()]


def test_every_language_lists_what_its_requests_can_say() -> None:
    assert sorted(FEATURES) == sorted(MODELS) == [each.name for each in target_languages()]


@pytest.mark.parametrize(("caller", "target"), [*itertools.permutations(NAMES, 2)])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_request_survives_another_language(caller: str, target: str, data: st.DataObject) -> None:
    caller_language, target_language = language(caller), language(target)
    request = data.draw(requests(FEATURES[caller] & FEATURES[target]))
    begin = written_in(caller_language, request)
    there = Translation(caller_language, target_language).request(
        begin.body, line_of(begin), MODELS[target], LossRules()
    )
    back = Translation(target_language, caller_language).request(
        there.target_request.body, line_of(there.target_request), MODELS[caller], LossRules()
    )
    end = caller_language.read_request(back.target_request.body, line_of(back.target_request))
    before, after = (
        meaning_of(caller_language.read_request(begin.body, line_of(begin))),
        meaning_of(end),
    )
    changes = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert changes == {}


UNKNOWN = '{"z":1.50,"a":[1E5,12345678901234567890]}'
"""A member of a vendor."""


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_an_unknown_member_changes_nothing_and_is_named(name: str, data: st.DataObject) -> None:
    caller = language(name)
    target_request = written_in(caller, data.draw(requests(FEATURES[name])))
    before = caller.read_request(target_request.body, line_of(target_request))
    tree = read_tree(target_request.body)
    # What stands beside declarations of functions is another tool of Gemini's, and a source of
    # Anthropic's with more members is another kind of block.
    passed_over = [*objects_of(tree.get("tool_choice")), *map(_source, objects_of(tree))]
    objects = [
        each
        for each in objects_of(tree)
        if "functionDeclarations" not in each and not any(each is other for other in passed_over)
    ]
    for place in data.draw(st.lists(st.sampled_from(objects), max_size=3)):
        place["vendorMember"] = UNKNOWN
    request = caller.read_request(write_tree(tree), line_of(target_request))
    assert meaning_of(request) == meaning_of(before)
    named = [place for place in request.unread if place.endswith("vendorMember")]
    assert len(named) == sum("vendorMember" in each for each in objects_of(tree))


def _source(tree: Any) -> Any:
    return tree.get("source")
