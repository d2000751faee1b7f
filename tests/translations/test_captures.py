"""The chat requests that the official SDKs sent are requests of every other language's SDK, too."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from engine.translations import languages, target_language, translation
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.translation import LossRules, TranslatedExchange, Translation
from tests.support.captures import RECORDINGS, Recording, needs_recordings
from tests.support.sdk_types import check_request

TARGETS = {
    "chat_completions": "gpt-5.4",
    "responses": "gpt-5.4",
    "messages": "claude-sonnet-4-5",
    "generate_content": "gemini-3-pro",
    "converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}

SMALL = {"max_tokens", "generationConfig.maxOutputTokens"}
"""Fields that ask for fewer tokens than a target takes."""


class Capture(NamedTuple):
    """A recorded chat request, and its language."""

    recording: Recording
    language: Language


def _captures() -> list[Capture]:
    paths = [(urlsplit(recording.target).path, recording) for recording in RECORDINGS]
    return [
        Capture(recording, language)
        for path, recording in paths
        for language in languages()
        if recording.method == "POST" and language.speaks(path)
    ]


CAPTURES = _captures()
CROSSINGS = [
    pytest.param(capture, target, id=f"{capture.recording.name} to {target}")
    for capture in CAPTURES
    for target in TARGETS
    if target != capture.language.name
]


def _translate(capture: Capture, target: str) -> TranslatedExchange:
    recording, source = capture
    line = RequestLine(
        model="m",
        stream=bool(source.stream_suffix) and source.stream_suffix in recording.target,
        query=urlsplit(recording.target).query,
    )
    model = TARGETS[target]
    return Translation(source, target_language(target)).request(
        recording.body, line, model, LossRules()
    )


@needs_recordings
def test_recorded_embeddings_are_those_of_the_other_vendor() -> None:
    paths = {"/embeddings": "batch_embed_contents", ":batchEmbedContents": "embeddings"}
    texts: list[Any] = []
    for recording in RECORDINGS:
        for suffix, target in paths.items():
            if recording.method == "POST" and recording.target.endswith(suffix):
                caller = next(name for name in paths.values() if name != target)
                exchange = translation(caller, target).request(
                    recording.body, RequestLine(model="m"), "v", LossRules()
                )
                assert exchange.dropped == []
                texts.append(_texts(json.loads(exchange.target_request.body)))
    assert sorted(texts) == [["a", "b"], ["hi"], ["x"]]


def _texts(body: Any) -> list[str]:
    """What a request for embeddings asks them of."""
    if "requests" in body:
        return [part["text"] for each in body["requests"] for part in each["content"]["parts"]]
    return [body["input"]] if isinstance(body["input"], str) else body["input"]


@needs_recordings
def test_every_language_has_a_recording() -> None:
    assert {capture.language.name for capture in CAPTURES} == {each.name for each in languages()}


@needs_recordings
@pytest.mark.parametrize(("capture", "target"), CROSSINGS)
def test_a_recorded_request_is_one_of_the_targets_sdk(capture: Capture, target: str) -> None:
    exchange = _translate(capture, target)
    check_request(target, exchange.target_request.body)
    assert set(exchange.dropped) <= SMALL if target == "responses" else exchange.dropped == []
    assert exchange.request.stream == ("stream" in capture.recording.name.lower())
