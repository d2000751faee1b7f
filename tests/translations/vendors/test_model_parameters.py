"""Parameters that a model does not take are refused by name, in every crossing."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from engine.source import files
from engine.translations import languages, preload, target_languages, translation
from engine.translations.neutral.language import RequestLine, TargetLanguage
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from engine.translations.vendors.model_parameters import facts, models, parameters
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns
from tests.support.each import each

TURN = {"role": "user", "content": "Hi"}
LEAST: dict[str, dict[str, Any]] = {
    "chat_completions": {"messages": [TURN]},
    "responses": {"input": "Hi"},
    "messages": {"max_tokens": 99, "messages": [TURN]},
    "generate_content": {"contents": [{"parts": [{"text": "Hi"}]}]},
}
STOPS = {
    "chat_completions": ("stop", {"stop": ["END"]}),
    "messages": ("stop_sequences", {"stop_sequences": ["END"]}),
    "generate_content": (
        "generationConfig.stopSequences",
        {"generationConfig": {"stopSequences": ["END"]}},
    ),
}
EFFORTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat_completions": ("reasoning_effort", {"reasoning_effort": "banana"}),
    "responses": ("reasoning", {"reasoning": {"effort": "banana"}}),
    "messages": ("output_config.effort", {"output_config": {"effort": "banana"}}),
    "generate_content": (
        "generationConfig.thinkingConfig",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "BANANA"}}},
    ),
}
MODELS = {
    "chat_completions": ["gpt-5", "o3", "gpt-5.5"],
    "responses": ["gpt-5", "gpt-5.5"],
    "messages": ["claude-sonnet-4-5", "claude-opus-4-7", "claude-sonnet-4-6"],
    "generate_content": ["gemini-2.5-flash", "gemini-3-pro-preview"],
    "converse": ["anthropic.claude-sonnet-4-5", "openai.gpt-oss-120b", "amazon.nova-2-lite"],
}


def asked(
    caller: str, target: str, model: str, members: dict[str, Any], rules: LossRules
) -> TranslatedExchange:
    pair = translation(caller, target)
    assert isinstance(pair, Translation)
    body = json.dumps({"model": "m", **LEAST[caller], **members}).encode()
    return pair.request(body, RequestLine(model="m"), model, rules)


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5-mini", "gpt-5-nano", "o3", "o4-mini"])
@pytest.mark.parametrize("caller", ["messages", "generate_content"])
def test_a_stop_is_not_sent_to_a_model_that_takes_none(caller: str, model: str) -> None:
    place, members = STOPS[caller]
    with pytest.raises(GatewayError, match=rf"'{place}' \(the model takes none\)"):
        asked(caller, "chat_completions", model, members, LossRules())
    for rules in (LossRules(lossy=True), LossRules(drop=Patterns((place,)))):
        exchange = asked(caller, "chat_completions", model, members, rules)
        assert exchange.dropped == [place]
        assert "stop" not in json.loads(exchange.target_request.body)


@pytest.mark.parametrize("caller", ["messages", "generate_content"])
def test_a_stop_is_sent_to_a_model_that_takes_it(caller: str) -> None:
    exchange = asked(caller, "chat_completions", "o3-mini", STOPS[caller][1], LossRules())
    assert json.loads(exchange.target_request.body)["stop"] == ["END"]


CROSSINGS = [
    (caller.name, target.name, model)
    for caller, target in itertools.product(languages(), target_languages())
    for model in MODELS[target.name]
    if caller.name != target.name
]


@pytest.mark.parametrize(("caller", "target", "model"), CROSSINGS)
def test_an_effort_in_an_unknown_word_is_refused_by_name(
    caller: str, target: str, model: str
) -> None:
    place, members = EFFORTS[caller]
    with pytest.raises(GatewayError, match=f"(?i)'{place}' .'banana' is not one of minimal, low"):
        asked(caller, target, model, members, LossRules())
    lossy = asked(caller, target, model, members, LossRules(lossy=True))
    assert lossy.dropped == [place]
    assert b"banana" not in lossy.target_request.body.lower()
    assert b"effort" not in lossy.target_request.body


@each(
    ("target", "member", "model", "sent"),
    [
        ("chat_completions", "frequencyPenalty", "gpt-5", False),
        ("chat_completions", "frequencyPenalty", "gpt-4o", True),
        ("chat_completions", "responseLogprobs", "gpt-5-mini", False),
        ("chat_completions", "responseLogprobs", "gpt-5.1", True),
        ("responses", "responseLogprobs", "o3", False),
        ("responses", "responseLogprobs", "gpt-4.1", True),
    ],
)
def test_what_models_that_reason_do_not_take(
    target: str, member: str, model: str, sent: bool
) -> None:
    config = {"generationConfig": {member: True if member == "responseLogprobs" else 1}}
    exchange = asked("generate_content", target, model, config, LossRules(lossy=True))
    assert exchange.dropped == ([] if sent else [f"generationConfig.{member}"])
    body = json.loads(exchange.target_request.body)
    assert sent == bool(body.get("frequency_penalty") or "logprobs" in json.dumps(body))


def test_tables_are_read_by_name_or_wildcard() -> None:
    stop = parameters("openai")["stop"]
    assert (stop.find("o3"), stop.find("gpt-5.9"), stop.find("llama")) == (0, 4, None)


@each("target", target_languages())
def test_a_request_for_a_preloaded_language_reads_no_file(
    target: TargetLanguage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for read in (facts, parameters, models):
        read.cache_clear()
    preload([target.dialect])
    with monkeypatch.context() as patch:
        patch.setattr(files, "PROVIDERS", tmp_path)
        for model in ("claude-of-nobody", "model-of-nobody"):  # no name of which a cache knows more
            members = {"temperature": 1, "max_tokens": 9, "reasoning_effort": "low"}
            named = f"{target.name}-{model}"
            asked("chat_completions", target.name, named, members, LossRules(lossy=True))
