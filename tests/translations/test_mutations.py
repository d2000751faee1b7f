"""Whatever a caller or an upstream sends: a request is translated or refused with 400, an answer is
translated, broken or an error of the upstream. No other exception leaves a translation."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator

import pytest

from engine.translations import languages, target_languages
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.language import Language, RequestLine, TargetLanguage
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from engine.values.errors import GatewayError
from engine.values.event_json import json_or_none
from tests.support.thorough import changes
from tests.support.translation_mutations import (
    VALUES,
    changed,
    changed_stream,
    documents,
    streams,
)
from tests.support.translations import event_data

COUNT = changes(250)
"""Changes of each kind and language; more of them at a desk: MODELWAY_MUTATIONS=20000."""

SEED = int(os.environ.get("MODELWAY_MUTATIONS_SEED", "0"))

LINE = RequestLine(model="m", id="req1", time=1_700_000_000)
QUESTIONS = {
    "chat_completions": b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
    "responses": b'{"model":"m","input":"Hi","store":false}',
    "messages": b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
    "generate_content": b'{"contents":[{"parts":[{"text":"Hi"}]}]}',
}
ERRORS = [
    b'{"__type":"com.amazon#ThrottlingException","message":"Too many requests."}',
    b'{"error":{"message":"no","type":"rate_limit_error","code":"rate_limit_exceeded"}}',
    b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
    b'[{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED",'
    b'"details":[{"retryDelay":"12.5s"},{"reason":"API_KEY_INVALID"}]}}]',
]
EVERY_TARGET = pytest.mark.parametrize("target", target_languages(), ids=lambda each: each.name)


def dice() -> random.Random:
    return random.Random(SEED)


def exchanges(target: TargetLanguage) -> Iterator[TranslatedExchange]:
    """A question from callers of each other language, in turn with a stream and without."""
    pairs = [
        Translation(source, target).request(
            QUESTIONS[source.name], LINE, "m", LossRules(lossy=True)
        )
        for source in languages()
        if source is not target
    ]
    while True:
        for stream in (False, True):
            for exchange in pairs:
                exchange.request.stream = stream
                yield exchange


def translated(
    translation: Translation, body: bytes, rules: LossRules
) -> TranslatedExchange | GatewayError:
    try:
        return translation.request(body, LINE, "m", rules)
    except GatewayError as error:
        return error


def answer_or_error(exchange: TranslatedExchange, body: bytes) -> bytes | Exception:
    try:
        return exchange.answer(body)
    except (BrokenAnswer, UpstreamError) as error:
        return error


def streamed(exchange: TranslatedExchange, events: Iterable[bytes]) -> tuple[bytes, bool]:
    """What a caller gets, and whether it is complete."""
    translator = exchange.stream()
    output: list[bytes] = []
    try:
        output.extend(map(translator.event, events))
        output.append(translator.end())
    except (BrokenAnswer, UpstreamError):
        output.append(translator.take())
        return b"".join(output), False
    return b"".join(output), True


def assert_json(text: bytes) -> None:
    json.loads(text, parse_int=str, parse_float=str)


def assert_output(output: bytes, exchange: TranslatedExchange) -> None:
    """That an output is what the caller can read: JSON, or events with JSON."""
    for text in event_data(output) if exchange.request.stream else [output]:
        if text != b"[DONE]":
            assert_json(text)


@pytest.mark.parametrize("source", languages(), ids=lambda each: each.name)
def test_a_changed_request_is_translated_or_refused(source: Language) -> None:
    rolls, requests = dice(), documents(source.name, "requests")
    for number in range(COUNT):
        translation = Translation(source, target_languages()[number % len(target_languages())])
        body = changed(rolls.choice(requests), rolls)
        result = translated(translation, body, LossRules(lossy=number % 5 > 0))
        if isinstance(result, GatewayError):
            assert result.status == 400, body
            assert len(result.message) < 1_000, body
        else:
            assert_json(result.target_request.body)
            assert all(field.isascii() and field.isprintable() for field in result.dropped)


@EVERY_TARGET
def test_a_changed_answer_is_translated_or_an_error(target: TargetLanguage) -> None:
    rolls, answers = dice(), documents(target.name, "answers", "upstream")
    questions = exchanges(target)
    for _ in range(COUNT):
        body, exchange = changed(rolls.choice(answers), rolls), next(questions)
        result = answer_or_error(exchange, body)
        if isinstance(result, bytes):
            assert_output(result, exchange)
        else:
            assert len(str(result)) <= 4_000, body


@EVERY_TARGET
def test_a_changed_stream_is_translated_or_an_error(target: TargetLanguage) -> None:
    rolls, recorded = dice(), streams(target.name)
    strangers = [data for each in target_languages() for data in streams(each.name)[0]]
    questions = exchanges(target)
    for _ in range(COUNT):
        exchange = next(questions)
        events = changed_stream(rolls.choice(recorded), strangers, rolls)
        output, complete = streamed(exchange, events)
        if exchange.request.stream or complete:
            assert_output(output, exchange)
        else:
            assert output == b""


@EVERY_TARGET
def test_a_changed_error_is_an_error(target: TargetLanguage) -> None:
    rolls, exchange = dice(), next(exchanges(target))
    for number in range(COUNT):
        text = changed(rolls.choice(ERRORS), rolls)
        error = exchange.error(400 + number % 200, json_or_none(text))
        assert 400 <= error.status <= 599, text
        assert error.retry_after is None or 0 <= error.retry_after < 1e9, text


@EVERY_TARGET
def test_any_json_in_place_of_an_answer_is_an_error(target: TargetLanguage) -> None:
    exchange = next(exchanges(target))
    accepted = [
        value[:80] for value in VALUES if isinstance(answer_or_error(exchange, value), bytes)
    ]
    assert accepted == []
