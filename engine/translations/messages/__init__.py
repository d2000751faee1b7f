"""Anthropic's messages. Read `request_reader.py` and `answer_reader.py` first, then
`../vendors/anthropic_models.py`."""

from __future__ import annotations

from engine.translations.messages.answer_fields import NAME, read_error
from engine.translations.messages.answer_reader import Reader, read_answer
from engine.translations.messages.answer_writer import Writer, write_answer
from engine.translations.messages.content_reader import without_seals
from engine.translations.messages.request_reader import read_request
from engine.translations.messages.request_shapes import FEATURES
from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.language import Language, TokenCount
from engine.translations.vendors.anthropic_models import most_tokens
from engine.values.wildcard import Patterns

LANGUAGE = Language(
    name=NAME,
    dialect="anthropic",
    path_suffix="/messages",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    stream_reader=Reader,
    stream_writer=Writer,
    text_arguments="streams",
    read_error=read_error,
    most_tokens=most_tokens,
    providers=("anthropic",),
    without_seals=without_seals,
    hints=Patterns(
        (
            *("cache_control", "*.cache_control", "diagnostics", "context_management"),
            *("metadata", "metadata.*", "user_profile_id", "workspace_id", "billing_policy"),
            *("service_tier", "speed", "fallback_credit_token", "anthropic_version", "*betas"),
            *("*.caller", "tools.max_uses", "tools.max_characters", "tools.eager_input_streaming"),
            *("thinking.block_binding", "thinking.display", "safeguards"),
        )
    ),
    headers=(("anthropic-version", "2023-06-01"),),
    token_count=TokenCount(
        path_suffix="/messages/count_tokens", write=lambda tokens: b'{"input_tokens":%d}' % tokens
    ),
    features=FEATURES,
    needs_turns=True,
)
