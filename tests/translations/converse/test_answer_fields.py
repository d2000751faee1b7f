"""What requests, answers and streams of Converse have in common."""

from __future__ import annotations

from typing import Any

import pytest

from engine.translations.converse.answer_fields import (
    ANSWER,
    NAME,
    read_error,
    read_finish,
    read_signature,
    write_reasoning,
)
from engine.translations.neutral.content import Signature
from engine.translations.neutral.events import BrokenAnswer
from tests.support import bedrock
from tests.support.each import each

STOPS = [
    ("end_turn", "end"),
    ("tool_use", "tool_calls"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "length"),
    ("stop_sequence", "stop_sequence"),
    ("guardrail_intervened", "filter"),
    ("content_filtered", "filter"),
]
MALFORMED = ["malformed_model_output", "malformed_tool_use"]


@each(("reason", "stop"), [*STOPS, ("something_new", "end")])
def test_the_reason_of_an_end(reason: str, stop: str) -> None:
    finish = read_finish(reason, None)
    assert (finish.stop, finish.native) == (stop, reason)


@each("reason", MALFORMED)
def test_an_answer_that_the_vendor_found_malformed_is_broken(reason: str) -> None:
    with pytest.raises(BrokenAnswer, match=reason):
        read_finish(reason, None)


def test_every_reason_of_the_vendors_model_is_known() -> None:
    shape = bedrock.service().shape_for("StopReason")
    assert {*MALFORMED, *(reason for reason, _ in STOPS)} == {*shape.enum}


@each(
    ("fields", "sequence"),
    [
        (b'{"stop_sequence":"END"}', "END"),
        (b'{"stop_sequence":null,"other":1}', ""),
        (b'{"stop_sequence":["x"]}', ""),
        (b'"test"', ""),
        (b"[]", ""),
    ],
)
def test_the_stop_sequence_is_a_field_of_its_model(fields: bytes, sequence: str) -> None:
    answer = ANSWER.read(b'{"additionalModelResponseFields":%b}' % fields)
    finish = read_finish("stop_sequence", answer.additional_model_response_fields)
    assert finish.sequence == sequence


def test_a_guardrail_explains_itself() -> None:
    assert "guardrail" in read_finish("guardrail_intervened", None).explanation


@pytest.mark.parametrize(
    ("signature", "redacted", "content"),
    [
        ("abc", None, {"reasoningText": {"text": "hm", "signature": "abc"}}),
        (None, "ZGF0YQ==", {"redactedContent": "ZGF0YQ=="}),
    ],
)
def test_a_signature_is_written_back_as_it_came(
    signature: Any, redacted: Any, content: Any
) -> None:
    read = read_signature(signature, redacted)
    assert isinstance(read, Signature)
    assert read.language == NAME
    assert write_reasoning("hm", read) == content


def test_no_signature_is_none() -> None:
    assert read_signature("", None) is None


ERRORS = [
    (400, {"message": "No."}, (400, "No.", "")),
    (403, {"Message": "User is not authorized."}, (403, "User is not authorized.", "")),
    (429, {"__type": "a.b#ThrottlingException", "message": "x"}, (429, "x", "ThrottlingException")),
    (424, {"message": "x"}, (502, "x", "")),
    (500, None, (500, "", "")),
    (500, {"message": 5, "__type": []}, (500, "", "")),
]


@each(("status", "document", "expected"), ERRORS)
def test_an_error(status: int, document: Any, expected: tuple[int, str, str]) -> None:
    error = read_error(status, document)
    assert (error.status, error.message, error.code) == expected
