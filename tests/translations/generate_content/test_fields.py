"""The names of the document and snake case mean the same."""

from __future__ import annotations

from engine.translations import language
from engine.translations.generate_content.fields import Fields
from engine.translations.language import RequestLine
from engine.translations.refusals import LossRules
from engine.translations.translation import Translation

LINE = RequestLine(model="m")


def test_a_request_in_snake_case_is_the_same_as_in_the_document() -> None:
    snake = b"""{"system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "QQ=="}},
        {"function_response": {"name": "a", "response": {"a_b": {"c_d": 1}}}}]}],
        "generation_config": {"max_output_tokens": 5}}"""
    camel = b"""{"systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
        {"functionResponse": {"name": "a", "response": {"a_b": {"c_d": 1}}}}]}],
        "generationConfig": {"maxOutputTokens": 5}}"""
    translation = Translation(language("generate_content"), language("messages"))
    target_requests = [
        translation.request(body, LINE, "m", LossRules()).target_request for body in (snake, camel)
    ]
    assert target_requests[0] == target_requests[1]


def test_the_documented_name_counts_where_a_member_is_there_under_both() -> None:
    fields = Fields(b'{"mime_type": "a", "mimeType": "b", "_private_name": "c"}')
    assert fields.text("mimeType") == "b"
    assert set(fields.rest()) == {"mime_type", "_privateName"}
