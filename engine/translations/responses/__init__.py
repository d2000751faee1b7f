"""OpenAI's responses. Read `item_reader.py` and `stream_writer.py` first."""

from __future__ import annotations

from engine.translations.language import Language
from engine.translations.responses.answer_reader import read_answer, read_error
from engine.translations.responses.answer_writer import write_answer
from engine.translations.responses.request_reader import read_request
from engine.translations.responses.request_writer import write_request
from engine.translations.responses.stream_reader import Reader
from engine.translations.responses.stream_writer import Writer
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
    stream_writer=Writer,
    read_error=read_error,
    hints=Patterns(
        (
            *("metadata", "user", "safety_identifier", "service_tier", "prompt_cache_*"),
            *("*.prompt_cache_breakpoint", "stream_options", "include", "client_metadata"),
        )
    ),
)
