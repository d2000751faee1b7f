"""The features of each language: requests that are right, and that ask for what they are named."""

from __future__ import annotations

import pytest

from engine.translations import languages, target_languages
from engine.translations.neutral.language import Feature, Language, RequestLine, TargetLanguage
from engine.translations.translation import LossRules, Translation
from engine.values.errors import GatewayError

TARGETS = {
    "chat_completions": "gpt-4o",
    "responses": "gpt-4o",
    "messages": "claude-sonnet-4-5",
    "generate_content": "gemini-2.5-flash",
    "converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
FEATURES = [
    pytest.param(language, feature, id=f"{language.name}-{feature.name}")
    for language in languages()
    for feature in language.features.features
]
EVERY_LANGUAGE = pytest.mark.parametrize("language", languages(), ids=lambda o: o.name)
GROUPS = {"sampling", "answer", "reasoning", "tools", "content", "state"}


@EVERY_LANGUAGE
def test_every_language_names_its_features_once(language: Language) -> None:
    names = [feature.name for feature in language.features.features]
    assert len(names) > 10
    assert len(set(names)) == len(names)
    assert {feature.group for feature in language.features.features} <= GROUPS


@EVERY_LANGUAGE
def test_the_least_request_is_carried_to_every_language(language: Language) -> None:
    least = Feature("", "", {})
    for target in target_languages():
        model = TARGETS[target.name]
        body = language.features.request(least, model)
        exchange = Translation(language, target).request(
            body, RequestLine(model=model), model, LossRules()
        )
        assert exchange.dropped == []


def refusal(language: Language, target: TargetLanguage, feature: Feature) -> GatewayError | None:
    """The refusal of a request that asks a target for a feature, None if it carries it."""
    model = TARGETS[target.name]
    body, line = language.features.request(feature, model), RequestLine(model=model)
    try:
        Translation(language, target).request(body, line, model, LossRules())
    except GatewayError as error:
        return error
    return None


@pytest.mark.parametrize(("language", "feature"), FEATURES)
def test_a_feature_is_carried_or_refused_by_name(language: Language, feature: Feature) -> None:
    """Never refused as a wrong request, and never by a field that it does not ask for."""
    others = [target for target in target_languages() if target is not language]
    for error in filter(None, (refusal(language, target, feature) for target in others)):
        assert error.code == "unsupported_parameter"
        assert error.param.partition(".")[0].partition("[")[0] in feature.members


@EVERY_LANGUAGE
def test_the_fields_of_features_have_no_indexes(language: Language) -> None:
    fields = set(language.features.fields())
    assert {name.partition(".")[0] for name in fields} >= set(language.features.least)
    assert any(name.count(".") >= 2 for name in fields)
    assert not any("[" in name for name in fields)
