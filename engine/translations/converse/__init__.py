"""Amazon Bedrock's Converse, which targets speak and no caller does. Read `request_writer.py` and
`answer_reader.py` first, then `models.py`."""

from __future__ import annotations

from engine.translations.converse.answer_fields import NAME, read_error
from engine.translations.converse.answer_reader import Reader, read_answer
from engine.translations.converse.models import most_tokens
from engine.translations.converse.request_writer import write_request
from engine.translations.neutral.language import TargetLanguage

LANGUAGE = TargetLanguage(
    name=NAME,
    dialect="bedrock",
    path_suffix="/converse",
    stream_suffix="/converse-stream",
    write_request=write_request,
    read_answer=read_answer,
    stream_reader=Reader,
    read_error=read_error,
    most_tokens=most_tokens,
    providers=("bedrock", "anthropic"),
    example_answer=b'{"output":{"message":{"role":"assistant","content":[{"text":"OK"}]}},'
    b'"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},'
    b'"metrics":{"latencyMs":1}}',
)
