"""Errors in any form: in error responses, in answers with a status of success, and in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations import target_language, target_languages
from engine.translations.neutral.events import UpstreamError
from engine.translations.neutral.language import TargetLanguage
from engine.translations.neutral.refusals import error_members, error_of, is_error
from tests.support.each import each
from tests.support.translations import translated

Json = dict[str, Any]

FORMS: dict[str, tuple[Json, str]] = {
    "an object": ({"error": {"message": "boom", "code": 429}}, "boom"),
    "a text": ({"error": "boom"}, "boom"),
    "another member": ({"error": {"msg": "boom"}}, "boom"),
    "vLLM's": ({"object": "error", "message": "boom", "type": "X", "code": 429}, "boom"),
    "no data": ({"code": 429, "message": "boom", "data": None}, "boom"),
    "MiniMax's": ({"base_resp": {"status_code": 1002, "status_msg": "boom"}}, "boom"),
    "no choices": ({"id": "1", "choices": None, "error": {"message": "boom"}}, "boom"),
    "an event": ({"type": "error", "message": "boom", "code": 429}, "boom"),
}
LANGUAGES = target_languages()
CASES = [(speaks, form) for speaks in LANGUAGES for form in FORMS]


def name_of(value: object) -> str:
    return value.name if isinstance(value, TargetLanguage) else str(value)


@each(("speaks", "form"), CASES, ids=name_of)
def test_an_error_in_place_of_an_answer_has_its_words(speaks: TargetLanguage, form: str) -> None:
    document, words = FORMS[form]
    with pytest.raises(UpstreamError) as whole:
        list(speaks.read_answer(json.dumps(document).encode()))
    assert whole.value.message == words


@each(("speaks", "form"), CASES, ids=name_of)
def test_an_error_in_a_stream_has_its_words_and_status(speaks: TargetLanguage, form: str) -> None:
    document, words = FORMS[form]
    with pytest.raises(UpstreamError) as streamed:
        list(speaks.stream_reader().read(json.dumps(document).encode()))
    assert streamed.value.message == words
    assert streamed.value.status in (429, 502)


LIST = b'[{"error": {"code": 429, "type": "rate_limit_error", "message": "boom"}}]'


@pytest.mark.parametrize("from_stream", [False, True])
@each("speaks", LANGUAGES, ids=name_of)
def test_a_list_with_an_error_has_its_words(speaks: TargetLanguage, from_stream: bool) -> None:
    caller = "responses" if speaks.name == "messages" else "messages"
    for stream in (False, True):
        with pytest.raises(UpstreamError) as error:
            translated([LIST], caller, speaks.name, from_stream=from_stream, stream=stream)
        assert (error.value.status, error.value.message) == (429, "boom")


@each("target", ["chat_completions", "messages", "responses"])
def test_a_text_in_place_of_an_answer_is_told(target: str) -> None:
    for document in ({"success": False, "message": "boom"}, {"detail": "boom"}, {"msg": "boom"}):
        with pytest.raises(UpstreamError) as whole:
            list(target_language(target).read_answer(json.dumps(document).encode()))
        assert (whole.value.status, whole.value.message) == (502, "boom")


@each("speaks", LANGUAGES, ids=name_of)
def test_an_error_response_has_its_words_in_any_form(speaks: TargetLanguage) -> None:
    for document, words in FORMS.values():
        error = speaks.read_error(400, document)
        assert (error.status, error.message) == (400, words)
    assert speaks.read_error(400, [FORMS["a text"][0]]).message == "boom"
    assert speaks.read_error(422, {"detail": [{"loc": ["a"], "msg": "m"}]}).message == "a: m"


def test_the_code_is_the_first_word_that_is_a_text() -> None:
    document = {"error": {"message": "m", "code": 5, "type": "", "status": "S"}}
    assert error_of(500, document, ("code", "type", "status")).code == "S"
    assert error_of(500, document, ("code",)).code == ""


@each(
    ("raw", "message"),
    [
        ('{"error":{"message":"boom"}}', "Provider returned error: boom"),
        ("boom", "Provider returned error: boom"),
        ({"detail": "boom"}, "Provider returned error: boom"),
        ('data: {"error":{"message":"boom"}}\n\n', "Provider returned error: boom"),
        *(("", "Provider returned error"), (None, "Provider returned error")),
        ("Provider returned error", "Provider returned error"),
    ],
)
def test_the_words_of_a_provider_stand_behind_those_of_its_router(raw: Any, message: str) -> None:
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}
    assert error_of(400, {"error": error}, ("type",)).message == message


@each(
    ("document", "members"),
    [
        ({"error": {"message": "m"}}, {"message": "m"}),
        ({"message": "m"}, {"message": "m"}),
        ([], {"message": None}),
        ("words", {"message": "words"}),
    ],
)
def test_members(document: Any, members: Json) -> None:
    assert error_members(document) == members


@each(
    ("member", "expected"),
    [
        *((b"null", False), (b"{}", False), (b'""', False), (b'{"a":1}', True), (b'"x"', True)),
        *((b'{"message":"","type":"","code":null}', False), (b'{"code":0}', False)),
    ],
)
def test_an_empty_error_is_none(member: bytes, expected: bool) -> None:
    assert is_error(Raw(member)) is expected
