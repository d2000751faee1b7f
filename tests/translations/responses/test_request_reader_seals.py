"""A request that is relayed as it came loses the thoughts of other vendors, and nothing else."""

from __future__ import annotations

from engine.translations.responses import LANGUAGE
from tests.support.each import each
from tests.support.seals import without_seals

SEALED = '{"type":"reasoning","id":"rs_1","encrypted_content":"modelway:messages:x","summary":[]}'
NATIVE = '{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]}'
TEXT = '{"role":"user","content": "modelway:"}'


@each(
    ("items", "expected"),
    [
        (f"[{TEXT},{SEALED} , {TEXT}]", f"[{TEXT},{TEXT}]"),
        (f"[{SEALED},{NATIVE}]", f"[{NATIVE}]"),
        ('"modelway:"', '"modelway:"'),
    ],
)
def test_sealed_items_are_removed(items: str, expected: str) -> None:
    request = '{"input":%s, "z": 1.0}'
    assert without_seals(LANGUAGE, request % items) == request % expected
