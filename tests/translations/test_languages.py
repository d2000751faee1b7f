"""What holds for every language, shown with the files of `tests/cases/translations/<language>/`.

A stream and an answer of one name are the same answer.
"""

from __future__ import annotations

import gc
import json
from pathlib import Path

import msgspec
import pytest

from engine.translations import languages, target_languages
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.content import Foreign, Text
from engine.translations.neutral.events import BrokenAnswer, Event
from engine.translations.neutral.language import Language, RequestLine, TargetLanguage
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Thinking, Tool, callable_tools
from tests.support.request_strategies import MODELS
from tests.support.translations import CASES, cases, event_data, events_of, read_whole

REQUESTS = cases("requests", "*.json")
WRITTEN = "[!ps]*"
"""Answers as we write them; `pause` and `search` have tools that the vendor runs."""

ANSWERS = cases("answers", f"{WRITTEN}.json")
STREAMS = cases("streams", f"{WRITTEN}.sse")
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


@pytest.mark.parametrize("target", target_languages(), ids=lambda o: o.name)
@pytest.mark.parametrize(("language", "file"), REQUESTS)
def test_what_a_request_says_comes_to_every_target(
    language: Language, file: Path, target: TargetLanguage
) -> None:
    request = language.read_request(file.read_bytes(), line_of(file))
    request.language, losses = "other", Losses(language.hints)
    body = target.write_request(request, MODELS[target.name], losses).body
    places = tuple(loss.place for loss in losses.losses)
    blocks = [block for message in request.messages for block in message.blocks]
    texts = [o.text for o in blocks if isinstance(o, Text) and not o.place.startswith(places)]
    texts += [block.text for block in request.system]
    texts += [tool.name for tool in callable_tools(request) if isinstance(tool, Tool)]
    assert texts
    assert [text for text in texts if msgspec.json.encode(text)[1:-1] not in body] == []
    others = [block for block in blocks if isinstance(block, Foreign) and not block.substitute]
    assert [block.place for block in others if block.place not in places] == []


@pytest.mark.parametrize(("language", "file"), ANSWERS)
def test_an_answer_is_read_as_it_is_written(language: Language, file: Path) -> None:
    answer = read_whole(language, file.read_bytes())
    result = language.write_answer(answer, request_of(language))
    assert json.loads(result) == json.loads(file.read_bytes())


@pytest.mark.parametrize(("language", "file"), STREAMS)
def test_a_stream_is_read_as_it_is_written(language: Language, file: Path) -> None:
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


@pytest.mark.parametrize(("language", "file"), TARGETS_STREAMS)
def test_a_stream_leaves_nothing_to_the_garbage_collector(
    language: TargetLanguage, file: Path
) -> None:
    text = file.read_bytes()
    gc.collect()
    gc.disable()
    try:
        assert [*events_of(language, text)]
        assert gc.collect() == 0
    finally:
        gc.enable()


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


def json_of(data: bytes) -> object:
    return json.loads(data) if data.startswith((b"{", b"[{")) else data
