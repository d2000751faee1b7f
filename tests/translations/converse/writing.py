"""Requests in the neutral form, written for a model of Bedrock's."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.converse import LANGUAGE
from engine.translations.neutral.content import Block, Text
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message
from engine.values.wildcard import Patterns
from tests.support import bedrock

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CLAUDE_4_1 = "anthropic.claude-opus-4-1-20250805-v1:0"
NOVA = "amazon.nova-pro-v1:0"
NOVA_2 = "us.amazon.nova-2-lite-v1:0"
GPT_OSS = "openai.gpt-oss-120b-1:0"
LLAMA = "meta.llama3-3-70b-instruct-v1:0"

HI = Message(role="user", blocks=[Text(text="Hi")], place="messages[0]")


def user(*blocks: Block) -> Message:
    return Message(role="user", blocks=[*blocks], place="messages[0]")


def assistant(*blocks: Block) -> Message:
    return Message(role="assistant", blocks=[*blocks], place="messages[1]")


class Written:
    """A written request, which the vendor's model accepts: its JSON, and what was lost of it."""

    def __init__(self, request: ChatRequest, model: str) -> None:
        losses = Losses(Patterns(()))
        self.request: TargetRequest = LANGUAGE.write_request(request, model, losses)
        self.body: Any = json.loads(self.request.body)
        self.lost = {loss.place: loss.reason for loss in losses.losses if not loss.hint}
        self.hints = {loss.place for loss in losses.losses if loss.hint}
        self.remainder_error = losses.remainder_error
        if not self.remainder_error:
            assert bedrock.problems(model, self.request.body, stream=request.stream) == []

    @property
    def content(self) -> Any:
        """The content of the first turn."""
        return self.body["messages"][0]["content"]


def written(model: str = CLAUDE, *messages: Message, **members: Any) -> Written:
    request = ChatRequest(language="other", model="m", messages=[*(messages or [HI])], **members)
    return Written(request, model)
