"""A request that is relayed as it came loses the signatures of other vendors, and nothing else."""

from __future__ import annotations

import base64

from engine.translations.generate_content import LANGUAGE
from engine.translations.generate_content.part_fields import UNSIGNED
from tests.support.each import each
from tests.support.seals import without_seals

SEALED = base64.b64encode(b"modelway:messages:EqQB").decode()


@each(
    ("part", "expected"),
    [
        (f'{{"text":"Hm","thought":true,"thoughtSignature":"{SEALED}"}}', None),
        (f'{{"text":"","thoughtSignature":"{SEALED}"}}', None),
        (f'{{"text":"A","thought_signature": "{SEALED}"}}', '{"text":"A"}'),
        (
            f'{{"functionCall":{{"name":"f"}}, "thoughtSignature":"{SEALED}"}}',
            f'{{"functionCall":{{"name":"f"}}, "thoughtSignature":"{UNSIGNED}"}}',
        ),
        (
            '{"functionCall":{"name":"f"},"thoughtSignature":"EqQB"}',
            '{"functionCall":{"name":"f"},"thoughtSignature":"EqQB"}',
        ),
    ],
)
def test_a_call_keeps_the_value_for_no_signature(part: str, expected: str | None) -> None:
    request = '{"contents":[{"parts":[{"text": "A"}%s]}], "z": 1.0}'
    member = "" if expected is None else f", {expected}"
    assert without_seals(LANGUAGE, request % f", {part}") == request % member


def test_a_turn_of_sealed_thoughts_alone_is_removed() -> None:
    turn = f'{{"role":"model","parts":[{{"thought":true,"thoughtSignature":"{SEALED}"}}]}}'
    request = f'{{"contents":[{{"parts":[]}},{turn}]}}'
    assert without_seals(LANGUAGE, request) == '{"contents":[{"parts":[]}]}'


def test_every_sealed_signature_has_the_seal_in_its_text() -> None:
    assert LANGUAGE.seal in SEALED.encode()
