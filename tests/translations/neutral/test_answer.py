"""An answer in one piece: what events come to."""

from __future__ import annotations

import pytest

from engine.translations.neutral.answer import Answer, Candidate, CitableTexts, collect
from engine.translations.neutral.content import Citation, Reasoning, Signature, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    TokenLogprob,
    Tokens,
)
from engine.values.usage import Usage
from tests.support.each import each

FINISH = Finish(stop="end")
END = End(finishes={0: FINISH})


def blocks_of(*events: Event) -> object:
    return collect([Start(), *events, END]).candidates[0].blocks


def test_the_parts_of_a_block_become_its_content() -> None:
    assert blocks_of(
        *(Open(Reasoning()), Delta("a"), Sign(Signature("x", "1")), Delta("b")),
        *(Sign(Signature("x", "2")), Close()),
        *(Open(Text()), Delta("c"), Cite(Citation(url="u")), Cite(Citation(url="v")), Close()),
        *(Open(ToolCall(id="1", name="f")), Delta('{"a"'), Delta(":1}"), Close()),
    ) == [
        Reasoning(text="ab", signature=Signature("x", "2")),
        Text(text="c", citations=[Citation(url="u"), Citation(url="v")]),
        ToolCall(id="1", name="f", arguments='{"a":1}'),
    ]


def test_candidates_are_kept_apart() -> None:
    answer = collect(
        [
            *(Start(), Open(Text(), 1), Open(Text()), Delta("a"), Delta("b", 1), Close(1), Close()),
            Tokens([TokenLogprob("b", -1.0)], 1),
            End(finishes={1: Finish(stop="length"), 0: FINISH}),
        ]
    )
    assert answer.candidates == [
        Candidate([Text(text="a")], FINISH),
        Candidate([Text(text="b")], Finish(stop="length"), [TokenLogprob("b", -1.0)]),
    ]


def test_the_ends_of_an_answer_join() -> None:
    start = Start(id="i", model="m", created=9, usage=Usage(input=1))
    assert collect([start, End(finishes={0: FINISH})]) == Answer(
        id="i",
        model="m",
        created=9,
        candidates=[Candidate([], FINISH)],
        usage=Usage(input=1),
    )


def test_the_usage_of_the_end_counts() -> None:
    events = [Start(usage=Usage(input=1)), End(finishes={0: FINISH}, usage=Usage(input=2))]
    assert collect(events).usage == Usage(input=2)


def test_an_answer_without_its_end_is_broken() -> None:
    with pytest.raises(BrokenAnswer, match="before it was complete"):
        collect([Start(), Open(Text()), Delta("a"), Close()])


def test_a_late_citation_goes_to_the_text_of_its_span() -> None:
    texts = [Text(text="abcd"), Text(text="efgh")]
    spans = [(1, 3), (5, 7), (None, None), (9, 11)]
    cited = [Citation("https://a", start=start, end=end) for start, end in spans]
    citable = CitableTexts()
    assert citable.cite(cited[0]) is None
    for text in texts:
        citable.add(text)
    assert [citable.cite(each) for each in cited] == [0, 1, 1, 1]
    assert [(o.start, o.end) for o in texts[0].citations] == [(1, 3)]
    assert [o.span(4) for o in texts[1].citations] == [(1, 3), (0, 4), (0, 4)]


def test_late_citations_go_to_texts_before_and_behind_the_first_of_them() -> None:
    events: list[Event] = [Start()]
    for words, start in (("abcd", 1), ("efgh", 5), ("ijkl", 9)):
        events += [Open(Text()), Delta(words), Close()]
        events.append(Cite(Citation("https://a", start=start, end=start + 2), late=True))
    (candidate,) = collect([*events, End(finishes={0: FINISH})]).candidates
    texts = [block for block in candidate.blocks if isinstance(block, Text)]
    assert [[(o.start, o.end) for o in text.citations] for text in texts] == [[(1, 3)]] * 3


@each("start, position", [(4, 2), (-1, 3), (7, 2), (8, 3)])
def test_no_span_begins_in_an_empty_text(start: int, position: int) -> None:
    citable = CitableTexts()
    for words in ("abcd", "", "efgh", ""):
        citable.add(Text(text=words))
    assert citable.cite(Citation("https://a", start=start, end=9)) == position
