"""Google's generate content. Read `content_reader.py` and `candidate_reader.py` first."""

from __future__ import annotations

from engine.translations.generate_content.answer_fields import read_error
from engine.translations.generate_content.answer_reader import Reader, read_answer
from engine.translations.generate_content.answer_writer import Writer, write_answer
from engine.translations.generate_content.models import most_tokens
from engine.translations.generate_content.part_fields import SEAL_BASE64, without_seals
from engine.translations.generate_content.request_reader import read_request
from engine.translations.generate_content.request_shapes import FEATURES
from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.language import Language, TokenCount
from engine.values.wildcard import Patterns

LANGUAGE = Language(
    name="generate_content",
    dialect="gemini",
    path_suffix=":generateContent",
    stream_suffix=":streamGenerateContent",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    stream_reader=Reader,
    stream_writer=Writer,
    read_error=read_error,
    most_tokens=most_tokens,
    providers=("gemini",),
    token_count=TokenCount(
        path_suffix=":countTokens", write=lambda tokens: b'{"totalTokens":%d}' % tokens
    ),
    without_seals=without_seals,
    seal=SEAL_BASE64.encode(),
    hints=Patterns(
        (
            *("labels", "serviceTier", "*.partMetadata"),
            *("*.mediaResolution", "*.mediaResolution.*"),
            *("tools.functionDeclarations.response", "tools.functionDeclarations.behavior"),
            *("tools.functionDeclarations.responseJsonSchema", "*.functionResponse.scheduling"),
        )
    ),
    features=FEATURES,
    needs_turns=True,
)
