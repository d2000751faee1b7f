"""Every translated request is one that its vendor takes, and every translated answer one that the
caller expects, as the vendors' documents and SDKs judge.

`MODELWAY_EXAMPLES=2000` tries more random ones than the tests of every day do.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language, languages, target_language, target_languages
from engine.translations.neutral.answer import Answer
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from tests.support import yaml_text
from tests.support.each import each
from tests.support.request_strategies import FEATURES, MODELS, line_of, requests, written_in
from tests.support.thorough import examples
from tests.support.translation_strategies import ANSWERS, events_of, write_answer, write_stream
from tests.support.translations import CASES, NEVER_DROPPED, event_data
from tests.support.vendor_judges import check_answer, check_event, check_request

some = settings(max_examples=examples(5))
NAMES = [each.name for each in languages()]
EVERY_LANGUAGE = pytest.mark.parametrize("name", NAMES)
TARGET_NAMES = [each.name for each in target_languages()]
EVERY_PAIR = pytest.mark.parametrize(
    ("caller", "target"),
    [pair for pair in itertools.product(NAMES, TARGET_NAMES) if pair[0] != pair[1]],
)
TARGETS = {
    "chat_completions": ("gpt-4o", "gpt-5", "o3", "another"),
    "responses": ("gpt-4o", "gpt-5"),
    "messages": ("claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-4-7", "another"),
    "generate_content": ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-pro"),
    "converse": (
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-opus-4-1-20250805-v1:0",
        "us.amazon.nova-2-lite-v1:0",
        "openai.gpt-oss-120b-1:0",
        "meta.llama3-3-70b-instruct-v1:0",
    ),
}
"""Models of each language that accept different things."""
ADDED = {
    "messages-chat-cache-marks",
    "messages-chat-thoughts-return",
    "responses-chat-thoughts-return",
}
"""Requests with members that other vendors have added to chat completions."""


def exchange(caller: str, target: str, body: bytes, model: str = "m") -> TranslatedExchange:
    """A request of a caller, without what the target cannot be asked."""
    stream = b'"stream":true' in body
    line = RequestLine(model="alias", stream=stream, query="alt=sse", id="r1", time=1)
    pair = Translation(language(caller), target_language(target))
    return pair.request(body, line, model, LossRules(lossy=True))


def without_references(request: dict[str, Any]) -> bytes:
    """A request without what refers to turns that only its vendor has."""
    request = {name: value for name, value in request.items() if name not in NEVER_DROPPED}
    if isinstance(request.get("input"), list):
        kinds = ("item_reference", "compaction")
        request["input"] = [item for item in request["input"] if item.get("type") not in kinds]
    return json.dumps(request).encode()


@EVERY_PAIR
def test_requests_for_every_feature(caller: str, target: str) -> None:
    features = language(caller).features
    bodies = [
        features.request(feature, "alias")
        for feature in features.features
        if feature.name not in NEVER_DROPPED
    ]
    files = CASES.glob(f"{caller}/requests/*.json")
    bodies += [without_references(json.loads(file.read_bytes())) for file in files]
    for body, model in itertools.product(bodies, TARGETS[target]):
        check_request(target, exchange(caller, target, body, model).target_request.body)


@EVERY_PAIR
@some
@given(data=st.data())
def test_random_requests(caller: str, target: str, data: st.DataObject) -> None:
    request = data.draw(requests(FEATURES[caller] & FEATURES[target]))
    caller_request = written_in(language(caller), request)
    pair = Translation(language(caller), target_language(target))
    exchange = pair.request(
        caller_request.body, line_of(caller_request), MODELS[target], LossRules()
    )
    check_request(target, exchange.target_request.body)


def crossings(member: str) -> list[tuple[str, dict[str, Any]]]:
    """The cases with a member, by their names."""
    files = sorted((CASES / "crossings").glob("*.yaml"))
    cases = [(file.stem, yaml_text.load(file.read_bytes())) for file in files]
    return [(name, case) for name, case in cases if member in case and name not in ADDED]


@each("name, case", crossings("written"))
def test_requests_of_the_cases(name: str, case: dict[str, Any]) -> None:
    check_request(case["target"], case["written"].encode())


@each("name, case", crossings("result"))
def test_answers_of_the_cases(name: str, case: dict[str, Any]) -> None:
    if "answer" in case:
        check_answer(case["caller"], case["result"].encode())
        return
    for data in event_data(case["result"].encode()):
        check_event(case["caller"], data)


@EVERY_LANGUAGE
@some
@given(answer=ANSWERS, size=st.integers(1, 9))
def test_random_answers(name: str, answer: Answer, size: int) -> None:
    check_answer(name, write_answer(language(name), answer))
    for data in event_data(write_stream(language(name), events_of(answer, size))):
        check_event(name, data)
