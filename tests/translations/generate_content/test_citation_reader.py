"""The sources of an answer -> citations."""

from __future__ import annotations

from engine.translations.neutral.content import (
    Citation,
    Signature,
)
from tests.translations.generate_content.candidate_reading import citations_of, grounding, support
from tests.translations.generate_content.documents import (
    blocks_of,
    piece,
    text,
)


def test_grounding_is_citations_at_characters() -> None:
    citations = citations_of(
        piece(text("Grüße, ")),
        piece(text("Welt.")),
        piece(
            finish="STOP",
            groundingMetadata=grounding(
                support(0, startIndex=9, endIndex=14, text="Welt."),
                support(0, 1, 2, 7, endIndex=7),
                support(2),
                support(0, endIndex=99),
            ),
        ),
    )
    assert citations == [
        Citation("https://a.test", "A", "", 7, 12),
        Citation("https://a.test", "A", "", 0, 5),
        Citation("https://b.test", "B", "source", 0, 5),
        Citation("https://b.test", "B", "source"),
        Citation("https://a.test", "A"),
    ]


def test_sources_may_stand_behind_the_last_signature() -> None:
    sources = grounding(support(0, endIndex=1))
    together = [
        piece(text("a"), text("", thoughtSignature="S"), finish="STOP", groundingMetadata=sources)
    ]
    apart = [
        piece(text("a")),
        piece(text("", thoughtSignature="S")),
        piece(finish="STOP", groundingMetadata=sources),
    ]
    for documents in (together, apart):
        one, signed = blocks_of(*documents)
        assert one.citations == [Citation("https://a.test", "A", "", 0, 1)]
        assert signed.signature == Signature("generate_content", "S")


def test_recited_sources_are_citations() -> None:
    metadata = {"citationSources": [{"startIndex": 1, "endIndex": 3, "uri": "https://c.test"}]}
    (citation,) = citations_of(piece(text("abcd"), finish="STOP", citationMetadata=metadata))
    assert citation == Citation("https://c.test", "", "", 1, 3)
