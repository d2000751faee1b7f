"""OpenAI's chat completions. Read `request_reader.py` and `choice_reader.py` first."""

from __future__ import annotations

from engine.translations.chat_completions.answer_reader import Reader, read_answer
from engine.translations.chat_completions.answer_writer import Writer, write_answer
from engine.translations.chat_completions.request_reader import read_request, without_seals
from engine.translations.chat_completions.request_shapes import FEATURES
from engine.translations.chat_completions.request_writer import write_request
from engine.translations.neutral.content import CACHE_MARKS
from engine.translations.neutral.language import Language
from engine.translations.vendors.openai_content import read_error
from engine.translations.vendors.openai_models import most_tokens
from engine.values.wildcard import Patterns

LANGUAGE = Language(
    name="chat_completions",
    dialect="openai",
    path_suffix="/chat/completions",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    stream_reader=Reader,
    stream_writer=Writer,
    text_arguments="all",
    read_error=read_error,
    most_tokens=most_tokens,
    providers=("openai",),
    without_seals=without_seals,
    hints=Patterns(
        (
            *("metadata", "user", "safety_identifier", "service_tier", "messages.name"),
            *("messages.id", "messages.created_at", "messages.createdAt", "messages.timestamp"),
            *("verbosity", "prompt_cache_*", *CACHE_MARKS, "stream_options.*"),
            *("web_search_options.search_context_size", "messages.content.image_url.format"),
            *("include_reasoning", "reasoning.summary", "reasoning_format", "reasoning_split"),
            *("*.provider_specific_fields*", "messages.thinking_blocks", "*.extra_content"),
            *("provider.order", "provider.sort", "provider.only", "provider.ignore", "usage"),
            *("provider.allow_fallbacks", "provider.require_parameters", "provider.max_price"),
            *("cache_control", "transforms", "session_id", "route", "litellm_*", "tool_stream"),
        )
    ),
    features=FEATURES,
)
