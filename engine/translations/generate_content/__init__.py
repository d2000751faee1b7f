"""Google's generate content. Read `content_reader.py` and `candidate_reader.py` first."""

from __future__ import annotations

from engine.translations.generate_content.answer_reader import Reader, read_answer, read_error
from engine.translations.generate_content.answer_writer import Writer, write_answer
from engine.translations.generate_content.request_reader import read_request
from engine.translations.generate_content.request_writer import write_request
from engine.translations.language import Language
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
    hints=Patterns(("labels", "serviceTier", "*.partMetadata", "*.displayName")),
)
