"""Operations that are no longer served, and why."""

from __future__ import annotations

from pathlib import Path

from engine.offline.diff.difference import Effect, differences_between
from tests.support.each import each
from tests.support.rehearsing import DOCUMENT, planned

CONFIG = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: "http://main.test/v1"}}
routes: [{operations: [shop.show%s], to: [{upstream: main}], auth: none}]
"""
HIDDEN = "operationId: hidden"


@each(
    ("document", "message"),
    [
        (DOCUMENT, "is no longer served: no route names it"),
        (
            DOCUMENT.replace(HIDDEN, "operationId: seen"),
            "is no longer served: it is shop.seen now, which no route names",
        ),
        (
            DOCUMENT.replace("  /hidden:", "  x-hidden:"),
            "the operation is no longer in its document",
        ),
    ],
)
def test_an_operation_that_is_gone_is_named_with_its_reason(
    tmp_path: Path, document: str, message: str
) -> None:
    before = planned(tmp_path / "old", CONFIG % ", shop.hidden")
    after = planned(tmp_path / "new", CONFIG % "", document)
    (difference,) = differences_between(before, after)
    assert (difference.level, difference.message) == (Effect.BREAKING, message)
