"""The sources of an answer -> citations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.translations.generate_content.answer_reader import Reader
from engine.translations.generate_content.citations import MAX_RUNS, TextOffsets
from engine.translations.neutral.content import Citation, Signature, Text
from engine.translations.neutral.events import Cite, Close, Delta, Event, Open
from tests.support.translations import event_data
from tests.translations.generate_content.answer_writing import END, A, B, grounding_of, output_of
from tests.translations.generate_content.candidate_reading import citations_of, grounding, support
from tests.translations.generate_content.documents import blocks_of, piece, text


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


def test_citations_are_grounding_at_bytes() -> None:
    first = Citation("https://a.test", "A", "", 0, 5)
    again, without = Citation("https://a.test", "A", "", 7, 12), Citation("https://b.test", "B")
    one: list[Event] = [Open(Text()), Delta("Grüße, "), Cite(first), Delta("Welt."), Cite(again)]
    two: list[Event] = [Open(Text()), Delta("Ende"), Cite(without), Cite(Citation("", "none"))]
    assert grounding_of([*one, Close(), *two, Close()]) == {
        "groundingChunks": [A, B],
        "groundingSupports": [
            {"segment": {"endIndex": 7}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 9, "endIndex": 14}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 14, "endIndex": 18}, "groundingChunkIndices": [1]},
        ],
    }


def test_citations_survive_their_way_to_the_vendor_and_back() -> None:
    cited = Citation("https://a.test", "A", "", 2, 4)
    events: list[Event] = [Open(Text()), Delta("éa日b"), Cite(cited), Close()]
    reader, citations = Reader(), []
    for data in event_data(output_of([*events, END])):
        citations += [event for event in reader.read(data) if isinstance(event, Cite)]
    assert citations == [Cite(cited)]


def test_late_citations_count_from_the_beginning_of_all_text() -> None:
    text: list[Event] = [Open(Text()), Delta("é"), Close(), Open(Text()), Delta("abc"), Close()]
    late = Cite(Citation("https://a.test", "A", "", 1, 3), late=True)
    assert grounding_of([*text, late])["groundingSupports"] == [
        {"segment": {"startIndex": 2, "endIndex": 4}, "groundingChunkIndices": [0]}
    ]


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


def offsets_of(pieces: list[str]) -> TextOffsets:
    offsets = TextOffsets()
    for each in pieces:
        offsets.add(each)
    return offsets


@given(st.lists(WORDS, max_size=4), st.data())
def test_an_offset_in_bytes_is_that_of_its_character(
    pieces: list[str], data: st.DataObject
) -> None:
    text, offsets = "".join(pieces), offsets_of(pieces)
    index = data.draw(st.integers(0, len(text)))
    size = len(text[:index].encode())
    assert offsets.bytes(index) == size
    assert offsets.characters(size) == index
    assert offsets.length == len(text)


def test_offsets_in_a_long_text_in_many_pieces() -> None:
    pieces = ["aé雪😀 ", "plain ", "ééé"] * 1_000
    text, offsets = "".join(pieces), offsets_of(pieces)
    for index in range(0, len(text), 97):
        size = len(text[:index].encode())
        assert (offsets.bytes(index), offsets.characters(size)) == (size, index)


def test_an_offset_outside_the_text_is_none() -> None:
    offsets = offsets_of(["aé"])
    assert [offsets.characters(3), offsets.characters(4), offsets.characters(-1)] == [2, None, None]
    assert [offsets.bytes(2), offsets.bytes(3), offsets.bytes(-1)] == [3, None, None]


def test_behind_too_many_changes_of_width_nothing_is_known() -> None:
    most = MAX_RUNS
    offsets = offsets_of(["aé" * most])
    assert offsets.characters(3 * (most // 2 - 1)) == most - 2
    assert offsets.bytes(most - 2) == 3 * (most // 2 - 1)
    assert offsets.characters(3 * most) is None
    assert offsets.bytes(2 * most) is None


def test_a_long_text_of_one_width_is_one_run() -> None:
    offsets = offsets_of(["雪" * 1_000_000, "雪"])
    assert offsets.bytes(900_001) == 2_700_003
    assert offsets.characters(2_700_003) == 900_001
