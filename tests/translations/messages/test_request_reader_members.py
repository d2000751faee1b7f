"""Each member of a request that the vendor's SDK knows is carried to another language, or is a loss
that is named. A new SDK with a member that nobody has decided on fails here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types.beta.message_create_params import (
    MessageCreateParamsNonStreaming as BetaParams,
)
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Params

from engine.translations import language
from engine.translations.neutral.language import RequestLine
from engine.translations.translation import LossRules, Translation
from engine.values.errors import GatewayError
from tests.support.sdk_members import Variant, variants

Json = dict[str, Any]

BASE: Json = {
    "model": "m",
    "max_tokens": 4000,
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
}
TARGETS = {
    "chat_completions": "gpt-5.2",
    "responses": "gpt-5.4",
    "generate_content": "gemini-3-pro",
}
HARMLESS = {
    "model": "the target has its own name for it",
    "messages.content.citations": "an echo of an earlier answer, or named as the document's",
    "thinking.display": "the answer is written as it says",
    "metadata": "empty",
    "output_config": "empty",
    "tool_choice": "says what happens without it",
    "tool_choice.disable_parallel_tool_use": "the first call of a demanded one is kept",
    "tools.type": "says what happens without it",
    "tools.input_schema": "says what happens without it",
}
"""Members that may be left out silently, and why."""


def target_request(request: Json, target: str) -> tuple[bytes, list[str]]:
    """What the target gets, and all fields that were lost."""
    translation = Translation(language("messages"), language(target))
    exchange = translation.request(
        json.dumps(request).encode(), RequestLine(), TARGETS[target], LossRules(lossy=True)
    )
    return exchange.target_request.body, exchange.dropped


def is_silent(variant: Variant, target: str) -> bool:
    """Whether a member is neither carried nor named, nor is all that it is in. A request that is
    refused with it or without it is not."""
    try:
        body, losses = target_request(variant.with_member, target)
        body_without = target_request(variant.without_member, target)[0]
    except GatewayError:
        return False
    names = [field for field in losses if f"{variant.place}.".startswith(f"{field}.")]
    return not names and body == body_without


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("params", [Params, BetaParams], ids=["messages", "beta"])
def test_no_member_is_lost_silently(params: Any, target: str) -> None:
    members = [each for each in variants(params, BASE) if not _is_harmless(each.place)]
    assert len(members) > 400
    assert [each.name for each in members if is_silent(each, target)] == []


def _is_harmless(place: str) -> bool:
    return place in HARMLESS or place.startswith("messages.content.citations.")
