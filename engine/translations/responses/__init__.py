"""OpenAI's responses. Read `content_reader.py` and `stream_writer.py` first."""

from __future__ import annotations

from engine.translations.neutral.content import CACHE_MARKS
from engine.translations.neutral.language import Language, TokenCount
from engine.translations.responses.answer_reader import read_answer
from engine.translations.responses.compaction import write_answer, writer_for
from engine.translations.responses.request_reader import read_request, without_seals
from engine.translations.responses.request_shapes import FEATURES
from engine.translations.responses.request_writer import write_request
from engine.translations.responses.stream_reader import Reader
from engine.translations.vendors.openai_content import read_error
from engine.translations.vendors.openai_models import most_tokens
from engine.values.wildcard import Patterns

LANGUAGE = Language(
    name="responses",
    dialect="openai",
    path_suffix="/responses",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    stream_reader=Reader,
    stream_writer=writer_for,
    compact_suffix="/responses/compact",
    text_arguments="all",
    read_error=read_error,
    most_tokens=most_tokens,
    providers=("openai",),
    without_seals=without_seals,
    token_count=TokenCount(
        path_suffix="/responses/input_tokens",
        write=lambda tokens: b'{"object":"response.input_tokens","input_tokens":%d}' % tokens,
    ),
    hints=Patterns(
        (
            *("metadata", "user", "safety_identifier", "service_tier", "prompt_cache_*"),
            *(*CACHE_MARKS, "stream_options", "include", "client_metadata", "truncation"),
            *("text.verbosity", "tools.search_content*", "tools.search_context_size"),
            *("input.content.detail", "reasoning.context"),
        )
    ),
    features=FEATURES,
)
