"""Converse requests as a whole: their path and the vendor's own serialization."""

from __future__ import annotations

import json

import pytest

from engine.translations import languages, target_language
from engine.translations.language import Language, RequestLine
from engine.translations.neutral.content import Text
from engine.translations.refusals import LossRules
from engine.translations.translation import Translation
from tests.support import bedrock
from tests.support.each import each
from tests.support.translations import NEVER_DROPPED
from tests.translations.converse.writing import CLAUDE, LLAMA, NOVA, user, written

PATHS = [
    (CLAUDE, "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
    (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/abc",
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fabc",
    ),
]


@each(("model", "encoded"), PATHS)
def test_the_path_names_the_model_percent_encoded(model: str, encoded: str) -> None:
    assert written(model).request.path == f"/model/{encoded}/converse"
    assert written(model, stream=True).request.path == f"/model/{encoded}/converse-stream"


@pytest.mark.parametrize("model", [CLAUDE, NOVA, LLAMA])
@pytest.mark.parametrize("source", languages(), ids=lambda each: each.name)
def test_every_feature_is_written_as_the_vendors_sdk_does(source: Language, model: str) -> None:
    translation = Translation(source, target_language("converse"))
    for feature in source.features.features:
        if feature.name in NEVER_DROPPED:
            continue
        body, line = source.features.request(feature, model), RequestLine(model=model)
        exchange = translation.request(body, line, model, LossRules(lossy=True))
        target_request = exchange.target_request
        streams = exchange.request.stream
        assert bedrock.problems(model, target_request.body, stream=streams) == [], feature.name
        sdk = bedrock.serialized(model, target_request.body, stream=streams)
        assert (target_request.path, json.loads(target_request.body)) == sdk, feature.name


def test_points_of_the_cache_are_four_in_all() -> None:
    blocks = [Text(text=str(number), cache="5m") for number in range(4)]
    request = written(CLAUDE, user(*blocks), system=[Text(text="a", cache="1h")])
    assert request.body["system"] == [{"text": "a"}]
    assert sum("cachePoint" in block for block in request.content) == 4
