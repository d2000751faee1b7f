"""A request that is relayed as it came loses the thoughts of other vendors, and nothing else."""

from __future__ import annotations

import json

from engine.translations.messages import LANGUAGE
from tests.support.each import each
from tests.support.seals import without_seals

SEALED = '{"type":"thinking","thinking":"Hm","signature":"modelway:generate_content:x"}'
REDACTED = '{"type":"redacted_thinking","data":"modelway:responses:x"}'
NATIVE = '{"type":"thinking","thinking":"Hm","signature":"EqQB"}'
CALL = '{"type":"tool_use","id":"a","name":"f","input":{}}'
RESULT = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}'


@each(
    ("content", "expected"),
    [
        (f'[{SEALED}, {{"type":"text","text":"A"}}]', '[{"type":"text","text":"A"}]'),
        (f'[{NATIVE},{SEALED},{REDACTED} , {{"x": 1.0}}]', f'[{NATIVE},{{"x": 1.0}}]'),
        (f"[ {NATIVE} ]", f"[ {NATIVE} ]"),
        ('"modelway:"', '"modelway:"'),
        ('[{"type":"text","text":"modelway:x"}]', '[{"type":"text","text":"modelway:x"}]'),
    ],
)
def test_sealed_thoughts_are_removed_from_their_turn(content: str, expected: str) -> None:
    request = '{"m" : 1, "messages":[{"role":"assistant","content":%s}], "z":0.70}'
    assert without_seals(LANGUAGE, request % content) == request % expected


SEARCH = '{"type":"web_search_result_location","url":"https://a","encrypted_index":"%s"}'


@each(
    ("citations", "expected"),
    [
        ("[%s]" % (SEARCH % "modelway:"), ""),
        (
            f"[{SEARCH % 'modelway:'}, {SEARCH % 'Eo8B'}]",
            ',"citations":[%s]' % (SEARCH % "Eo8B"),
        ),
        ("[%s]" % (SEARCH % "Eo8B"), ',"citations":[%s]' % (SEARCH % "Eo8B")),
    ],
)
def test_citations_of_other_vendors_searches_are_removed(citations: str, expected: str) -> None:
    request = '{"messages":[{"content":[{"type":"text","text":"A"%s}]},{"a":"modelway:"}]}'
    before = request % f',"citations":{citations}'
    assert without_seals(LANGUAGE, before) == request % expected


def test_a_turn_of_sealed_thoughts_alone_is_removed() -> None:
    turn = f'{{"role":"assistant","content":[{SEALED},{REDACTED}]}}'
    user = '{"role":"user","content":"Hi"}'
    request = f'{{"messages":[{user},{turn},{user}]}}'
    assert without_seals(LANGUAGE, request) == f'{{"messages":[{user},{user}]}}'


def thinks(thinking: str, blocks: str, last: str = RESULT) -> bool:
    """Whether the model is still asked to think after a turn of these blocks."""
    request = (
        f'{{"thinking":{{"type":"{thinking}"}},"context_management":{{}},'
        f'"messages":[{{"role":"assistant","content":[{blocks}]}},{last}]}}'
    )
    members = json.loads(without_seals(LANGUAGE, request))
    assert ("thinking" in members) == ("context_management" in members)
    return "thinking" in members


def test_thoughts_on_a_budget_need_those_before_the_last_calls() -> None:
    assert not thinks("enabled", f"{SEALED},{CALL}")
    assert thinks("enabled", f"{NATIVE},{CALL}")
    assert thinks("adaptive", f"{SEALED},{CALL}")
    assert thinks("enabled", f'{SEALED},{{"type":"text","text":"A"}}', '{"role":"user"}')


@each(
    "request_",
    ["[]", "{}", '{"messages":{}}', '{"messages":[1,{"content":[2]}]}', '{"messages":[null,null]}'],
)
def test_a_request_of_another_form_is_unchanged(request_: str) -> None:
    assert without_seals(LANGUAGE, request_) == request_
