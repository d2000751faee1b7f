"""What holds for every language, shown with the files of `tests/cases/translations/<language>/`.

A stream and an answer of one name are the same answer.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.translations import languages
from engine.translations.language import Language, RequestLine, TargetLanguage
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.events import BrokenAnswer, Event
from engine.translations.neutral.limits import Losses
from engine.translations.neutral.request import ChatRequest, Thinking
from engine.values.wildcard import Patterns
from tests.support.translations import CASES, cases, event_data, events_of, read_whole

REQUESTS = cases("requests", "*.json")
ANSWERS = cases("answers", "*.json")
STREAMS = cases("streams", "*.sse")
TARGETS_STREAMS = cases("streams", "*.sse", TargetLanguage)
EVERY_LANGUAGE = pytest.mark.parametrize("language", languages(), ids=lambda o: o.name)


def request_of(language: Language) -> ChatRequest:
    return ChatRequest(
        language=language.name,
        model="",
        messages=[],
        id="req1",
        time=1_700_000_000,
        thinking=Thinking(adaptive=True),
    )


@EVERY_LANGUAGE
def test_every_language_has_cases_of_each_kind(language: Language) -> None:
    for kind in ("requests", "answers", "streams"):
        assert any((CASES / language.name / kind).iterdir())


@pytest.mark.parametrize(("language", "file"), REQUESTS)
def test_a_request_survives_its_own_language(language: Language, file: Path) -> None:
    line_file = file.with_suffix(".line")
    line = (
        RequestLine(**json.loads(line_file.read_bytes())) if line_file.exists() else RequestLine()
    )
    request = language.read_request(file.read_bytes(), line)
    losses = Losses(Patterns(()))
    target_request = language.write_request(request, request.model, losses)
    assert not losses.losses
    assert exact(target_request.body) == exact(file.read_bytes())


@pytest.mark.parametrize(("language", "file"), ANSWERS)
def test_an_answer_survives_its_own_language(language: Language, file: Path) -> None:
    answer = read_whole(language, file.read_bytes())
    result = language.write_answer(answer, request_of(language))
    assert json.loads(result) == json.loads(file.read_bytes())


@pytest.mark.parametrize(("language", "file"), STREAMS)
def test_a_stream_survives_its_own_language(language: Language, file: Path) -> None:
    writer = language.stream_writer(request_of(language))
    result = b"".join(writer.write(event) for event in events_of(language, file.read_bytes()))
    assert [json_of(data) for data in event_data(result)] == [
        json_of(data) for data in event_data(file.read_bytes())
    ]


@pytest.mark.parametrize(("language", "file"), TARGETS_STREAMS)
def test_a_stream_comes_to_the_answer_of_its_name(language: TargetLanguage, file: Path) -> None:
    whole = CASES / language.name / "answers" / f"{file.stem}.json"
    streamed = collect(events_of(language, file.read_bytes()))
    assert streamed == read_whole(language, whole.read_bytes())


@pytest.mark.parametrize(("language", "file"), TARGETS_STREAMS)
def test_the_beginning_of_a_stream_is_broken_or_a_complete_answer(
    language: TargetLanguage, file: Path
) -> None:
    data = event_data(file.read_bytes())
    whole = collect(events_of(language, file.read_bytes()))
    for count in range(len(data)):
        answer = _answer_or_none(language, data[:count])
        if answer is not None:
            assert answer.candidates == whole.candidates


def _answer_or_none(language: TargetLanguage, data: list[bytes]) -> Answer | None:
    reader = language.stream_reader()
    events: list[Event] = []
    try:
        for each in data:
            events += reader.read(each)
        events += reader.end()
    except BrokenAnswer:
        return None
    return collect(events)


def line_of(file: Path) -> RequestLine:
    """What the URL of a request says, from the file beside its body."""
    path = file.with_suffix(".line")
    return RequestLine(**json.loads(path.read_bytes())) if path.exists() else RequestLine()


def exact(text: bytes) -> object:
    """The JSON value of a text, with the text of its numbers."""
    return json.loads(text, parse_float=str, parse_int=str)


def json_of(data: bytes) -> object:
    return json.loads(data) if data.startswith((b"{", b"[{")) else data
