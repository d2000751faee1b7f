"""A request that is relayed as it came loses the thoughts of other vendors, and nothing else."""

from __future__ import annotations

from engine.translations.chat_completions import LANGUAGE
from tests.support.each import each
from tests.support.seals import without_seals

SEALED = '{"type":"reasoning.text","text":"Hm","signature":"modelway:messages:x"}'
ENCRYPTED = '{"type":"reasoning.encrypted","data":"modelway:messages:x"}'
NATIVE = '{"type":"reasoning.text","text":"Hm","signature":"s"}'


@each(
    ("members", "expected"),
    [
        (f'"content": "A", "reasoning_details":[{SEALED},{ENCRYPTED}]', '"content": "A"'),
        (f'"reasoning_details":[{SEALED}, {NATIVE}]', f'"reasoning_details":[{NATIVE}]'),
        (f'"reasoning_details":[{NATIVE}]', f'"reasoning_details":[{NATIVE}]'),
        (
            f'"provider_specific_fields":{{"reasoning_details":[{SEALED}, {NATIVE}]}}',
            f'"provider_specific_fields":{{"reasoning_details":[{NATIVE}]}}',
        ),
        ('"content": "modelway:"', '"content": "modelway:"'),
        ('"reasoning_details": "modelway:"', '"reasoning_details": "modelway:"'),
    ],
)
def test_sealed_details_are_removed(members: str, expected: str) -> None:
    request = '{"messages":[{"role":"user"}, {%s}], "z": 1.0}'
    assert without_seals(LANGUAGE, request % members) == request % expected
