"""What holds for every answer of every language: random ones, in a stream and in one piece.

`MODELWAY_EXAMPLES=2000` tries more answers than the tests of every day do.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language, languages, target_language, target_languages
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.language import TargetLanguage
from engine.translations.neutral.losses import Losses
from engine.translations.translation import TranslatedExchange, Translation
from engine.upstream.client.failures import InvalidAnswer
from engine.values.wildcard import Patterns
from tests.support.thorough import examples
from tests.support.translation_strategies import (
    ANSWERS,
    content_of,
    events_of,
    request_in,
    sorted_by_kind,
    without_late_citations,
    write_answer,
    write_stream,
)
from tests.support.translations import (
    event_data,
    events_in,
    read_whole,
    relayed,
    translated_stream,
    usage_in,
)

EXAMPLES = examples(12)

NAMES = [each.name for each in languages()]
TARGETS = [each.name for each in target_languages()]
EVERY_LANGUAGE = pytest.mark.parametrize("name", TARGETS)
EVERY_PAIR = pytest.mark.parametrize(
    ("caller", "target"),
    [pair for pair in itertools.product(NAMES, TARGETS) if pair[0] != pair[1]],
)
CITES_AT_THE_END = ("chat_completions", "generate_content")
some = settings(max_examples=EXAMPLES)


def exchange(pair: Translation, *, stream: bool) -> TranslatedExchange:
    """An exchange whose caller wants to see everything."""
    request = request_in(pair.source, stream=stream)
    target_request = pair.target.write_request(request, "m", Losses(Patterns(())))
    return TranslatedExchange(pair, request, target_request, [])


def read_stream(written_in: TargetLanguage, stream: bytes) -> Answer:
    return collect(events_in(written_in, event_data(stream)))


def translate_stream(pair: Translation, stream: bytes) -> bytes:
    return translated_stream(exchange(pair, stream=True), event_data(stream))


def answer_in(written_in: TargetLanguage, answer: Answer) -> Answer:
    """The answer with its blocks in an order that the language keeps in one piece and in a stream
    alike."""
    return sorted_by_kind(answer) if written_in.name == "chat_completions" else answer


@EVERY_LANGUAGE
@some
@given(answer=ANSWERS, size=st.integers(1, 9))
def test_a_stream_says_what_the_answer_in_one_piece_says(
    name: str, answer: Answer, size: int
) -> None:
    caller = target_language(name)
    answer = answer_in(caller, answer)
    streamed = read_stream(caller, write_stream(caller, events_of(answer, size)))
    collected = read_whole(caller, write_answer(caller, answer))
    assert content_of(streamed) == content_of(collected)


@EVERY_PAIR
@some
@given(answer=ANSWERS, size=st.integers(1, 9))
def test_a_translated_stream_says_what_the_translated_answer_says(
    caller: str, target: str, answer: Answer, size: int
) -> None:
    pair = Translation(language(caller), target_language(target))
    answer = answer_in(pair.target, answer)
    if target in CITES_AT_THE_END and caller not in CITES_AT_THE_END:
        answer = without_late_citations(answer)
    stream = translate_stream(pair, write_stream(pair.target, events_of(answer, size)))
    whole = write_answer(pair.target, answer)
    body = exchange(pair, stream=False).answer(whole, usage_in(pair.target, whole))
    streamed, collected = read_stream(pair.source, stream), read_whole(pair.source, body)
    ordered = caller != "chat_completions"
    assert content_of(streamed, ordered=ordered) == content_of(collected, ordered=ordered)


@EVERY_PAIR
@some
@given(answer=ANSWERS, data=st.data())
def test_a_stream_may_be_split_anywhere(
    caller: str, target: str, answer: Answer, data: st.DataObject
) -> None:
    pair = Translation(language(caller), target_language(target))
    stream = write_stream(pair.target, events_of(answer, 4))
    places = data.draw(st.lists(st.integers(0, len(stream)), max_size=9).map(sorted))
    cuts = [0, *places, len(stream)]
    pieces = [stream[begin:end] for begin, end in itertools.pairwise(cuts)]
    assert through(pair, pieces) == through(pair, [stream])


def through(pair: Translation, pieces: list[bytes]) -> bytes:
    """What the bytes of an upstream's stream come to."""
    output, failure = interrupted(pair, pieces)
    assert failure is None
    return output


def interrupted(pair: Translation, pieces: list[bytes]) -> tuple[bytes, Exception | None]:
    """What a caller gets of a stream, and why it breaks off."""
    return relayed(exchange(pair, stream=True), pieces)


@EVERY_PAIR
@some
@given(answer=ANSWERS, data=st.data())
def test_the_beginning_of_a_stream_is_an_error_or_the_whole_answer(
    caller: str, target: str, answer: Answer, data: st.DataObject
) -> None:
    """The usage may be missing: in chat completions it follows the end of the answer."""
    pair = Translation(language(caller), target_language(target))
    stream = write_stream(pair.target, events_of(answer, 4))
    beginning = stream[: data.draw(st.integers(0, len(stream)))]
    output, failure = interrupted(pair, [beginning])
    if failure is None:
        says = content_of(read_stream(pair.source, output), usage=False)
        collected = read_stream(pair.source, through(pair, [stream]))
        assert says == content_of(collected, usage=False)
    else:
        assert isinstance(failure, InvalidAnswer)
        with pytest.raises(BrokenAnswer):
            read_stream(pair.source, output)
