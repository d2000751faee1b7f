"""Candidates -> blocks and their events."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from engine.translations.generate_content.part_fields import write_signature
from engine.translations.neutral.content import (
    Citation,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer, Close, Delta, Open, Sign
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each
from tests.translations.generate_content.candidate_reading import (
    SEAL,
    SEALED,
    calls_of,
    grounding,
    support,
)
from tests.translations.generate_content.documents import (
    Json,
    blocks_of,
    call,
    events_of,
    piece,
    read,
    text,
)


@each(
    ("parts", "blocks"),
    [
        ([text("a"), text("b")], [Text(text="ab")]),
        ([text("")], []),
        ([text("hm", thought=True), text("a")], [Reasoning(text="hm"), Text(text="a")]),
        (
            [text("hm", thought=True, thoughtSignature="S1"), text("a")],
            [
                Reasoning(text="hm", signature=Signature("generate_content", "thought:S1")),
                Text(text="a"),
            ],
        ),
        (
            [text("hm", thought=True), text("a", thoughtSignature="S1")],
            [
                Reasoning(text="hm", signature=Signature("generate_content", "S1")),
                Text(text="a"),
            ],
        ),
        (
            [text("a"), text("", thoughtSignature="S1")],
            [Text(text="a"), Reasoning(signature=Signature("generate_content", "S1"))],
        ),
        (
            [{"text": "a", "thought_signature": SEALED}],
            [Reasoning(signature=SEAL), Text(text="a")],
        ),
        (
            [{"inlineData": {"mimeType": "image/png", "data": "-_8"}}],
            [Media(kind="image", source=Inline("image/png", "+/8="))],
        ),
        (
            [{"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.test/v"}}],
            [Media(kind="video", source=Link("https://x.test/v", "video/mp4"))],
        ),
        (
            [text("", thought=True), {"thought": True, "inlineData": {"data": ""}}, text("a")],
            [Text(text="a")],
        ),
    ],
)
def test_parts_are_blocks(parts: list[Json], blocks: list[Any]) -> None:
    assert blocks_of(piece(*parts, finish="STOP")) == blocks
    pieces = [piece(part) for part in parts]
    assert blocks_of(*pieces, piece(finish="STOP")) == blocks


def test_code_that_the_vendor_ran_is_a_block_of_its_own() -> None:
    (block,) = blocks_of(
        piece({"executableCode": {"code": "1", "language": "PYTHON"}}, finish="STOP")
    )
    assert block == Foreign(kind="executableCode", omissible=True)


def test_the_signature_of_a_part_that_only_the_vendor_has_signs_nothing_else() -> None:
    part = {"toolCall": {"id": "1"}, "thoughtSignature": "S"}
    assert blocks_of(piece(part, finish="STOP")) == [Foreign(kind="toolCall", omissible=True)]


def test_text_is_passed_on_piece_by_piece() -> None:
    events = events_of(piece(text("a")), piece(text("b")), piece(finish="STOP"))
    assert events[1:-1] == [Open(Text()), Delta("a"), Delta("b"), Close()]


def test_a_signature_is_an_event_behind_its_thoughts() -> None:
    parts = [text("hm", thought=True), {**call(id="c"), "thoughtSignature": "S1"}]
    events = events_of(piece(*parts, finish="STOP"))
    signature = Signature("generate_content", "S1")
    assert events[1:5] == [Open(Reasoning()), Delta("hm"), Sign(signature), Close()]


@each(
    ("members", "arguments"),
    [
        ({"args": {"b": 1.0, "a": 2}}, '{"b": 1.0, "a": 2}'),
        ({"args": {}}, "{}"),
        ({"args": None}, ""),
        ({}, ""),
    ],
)
def test_arguments_keep_their_text(members: Json, arguments: str) -> None:
    (tool_call,) = calls_of(piece(call(id="c1", **members), finish="STOP"))
    assert (tool_call.id, tool_call.name, tool_call.arguments) == ("c1", "f", arguments)


def test_two_calls_of_one_function_have_two_ids_which_stay_the_same() -> None:
    document = piece(call(), call(), finish="STOP") | {"responseId": "r1"}
    (one, two), again = calls_of(document), calls_of(document)
    assert one.id != two.id
    assert [one, two] == again


def test_calls_of_two_answers_have_different_ids() -> None:
    first = piece(call(), finish="STOP") | {"usageMetadata": {"promptTokenCount": 5}}
    second = piece(call(), finish="STOP") | {"usageMetadata": {"promptTokenCount": 9}}
    assert calls_of(first)[0].id != calls_of(second)[0].id


def test_arguments_may_come_value_by_value() -> None:
    (tool_call,) = calls_of(
        piece(call(id="c1", willContinue=True)),
        piece(
            {
                "functionCall": {
                    "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}],
                    "willContinue": True,
                }
            }
        ),
        piece({"functionCall": {}}, finish="STOP"),
    )
    assert (tool_call.id, tool_call.arguments) == ("c1", '{"a":"x"}')


@each(
    ("documents", "message"),
    [
        (
            [piece(call(willContinue=True)), piece(text("a"))],
            "has other content inside a tool call",
        ),
        ([piece(call(willContinue=True), finish="STOP")], "ended inside a tool call"),
        ([piece({"functionCall": {"args": {}}}, finish="STOP")], "without a name"),
        ([piece(text("a"))], "without a finish reason"),
        ([piece(text("a"), finish="FINISH_REASON_UNSPECIFIED")], "without a finish reason"),
    ],
)
def test_an_impossible_candidate_breaks_the_answer(documents: list[Json], message: str) -> None:
    with pytest.raises(BrokenAnswer, match=message):
        read(*documents)


@each(
    "document",
    [
        {"candidates": [{"content": "text"}]},
        {"candidates": ["x"]},
        piece({"text": ["x"]}),
        piece({"inlineData": "x"}),
        piece({"functionCall": ["x"]}),
        piece({"functionCall": {"name": ["x"]}}),
        piece(text("a"), index=-1),
        piece(text("a"), index=128),
    ],
)
def test_another_type_is_named(document: Json) -> None:
    with pytest.raises(WrongType):
        read(document)


def test_a_signature_of_broken_base64_is_the_vendors() -> None:
    (thought, _) = blocks_of(piece(text("a", thoughtSignature="%%"), finish="STOP"))
    assert thought.signature == Signature("generate_content", "%%")


def test_a_seal_survives_the_alphabet_of_urls() -> None:
    signature = Signature("messages", "??>>~~")
    sealed = write_signature(signature)
    urlsafe = base64.urlsafe_b64encode(base64.b64decode(sealed)).decode()
    assert "+" in sealed or "/" in sealed
    (thought, _) = blocks_of(piece(text("a", thoughtSignature=urlsafe), finish="STOP"))
    assert thought.signature == signature


CALL = {"functionCall": {"id": "c", "name": "f", "args": {}}}
CALLED = ToolCall(id="c", name="f", arguments="{}")


@each(
    ("part", "blocks"),
    [
        ({"text": "a", **CALL}, [Text(text="a"), CALLED]),
        ({"text": "", **CALL}, [CALLED]),
        ({"thought": True, **CALL}, [CALLED]),
        (
            {"text": "", "thoughtSignature": "S", **CALL},
            [Reasoning(signature=Signature("generate_content", "S")), CALLED],
        ),
        (
            {"text": "", "inlineData": {"mimeType": "image/png", "data": "AA=="}},
            [Media(kind="image", source=Inline("image/png", "AA=="))],
        ),
    ],
)
def test_a_call_beside_other_members_is_not_lost(part: Json, blocks: list[Any]) -> None:
    assert blocks_of(piece(part, finish="STOP")) == blocks


@each(
    "part",
    [
        {"executableCode": {"code": "1"}},
        {"codeExecutionResult": {"output": "1"}},
        {"toolCall": {"id": "1"}},
        {"videoMetadata": {"fps": 1}},
        {"hologram": {}},
    ],
)
def test_what_the_vendor_runs_itself_is_left_to_its_own_callers(part: Json) -> None:
    (kind,) = part
    assert blocks_of(piece(part, finish="STOP")) == [Foreign(kind=kind, omissible=True)]


@each("others", [{}, {"executableCode": {"code": "1"}}])
def test_a_part_of_an_unknown_kind_is_refused(others: Json) -> None:
    with pytest.raises(BrokenAnswer, match="content of the kind 'hologram'"):
        blocks_of(piece({**others, "hologram": {"x": 1}}, finish="STOP"))


def test_sources_behind_a_call_belong_to_the_text_before_it() -> None:
    last = piece(finish="STOP")
    last["candidates"][0]["groundingMetadata"] = grounding(support(0, startIndex=1, endIndex=2))
    text_block, _ = blocks_of(piece(text("abc")), piece(CALL), last)
    assert text_block.citations == [Citation("https://a.test", "A", "", 1, 2)]
