"""Blocks -> parts."""

from __future__ import annotations

from engine.translations.generate_content.part_fields import UNSIGNED
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Signature,
    Text,
    UploadedFile,
)
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    GEMINIS,
    HI,
    IMAGE,
    OLD,
    PRO_3,
    Json,
    call,
    contents,
    losing,
    model_parts,
    result,
    turn,
    user_parts,
)


@each(
    ("model", "block", "part"),
    [
        (PRO_3, Text(text="a"), {"text": "a"}),
        (PRO_3, Refusal(text="no"), {"text": "no"}),
        (PRO_3, IMAGE, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        (
            PRO_3,
            Media(kind="document", source=PlainText("text")),
            {"text": "text"},
        ),
        (
            FLASH,
            Media(kind="image", source=Link("https://x.test/a")),
            {"fileData": {"fileUri": "https://x.test/a"}},
        ),
        (
            FLASH,
            Media(kind="video", source=Link("gs://b/v", "video/mp4")),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}},
        ),
        (
            PRO_3,
            Media(kind="image", source=Inline("image/png", ""), detail="low"),
            {
                "inlineData": {"mimeType": "image/png", "data": ""},
                "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
            },
        ),
    ],
)
def test_a_block_is_a_part(model: str, block: Block, part: Json) -> None:
    assert user_parts(block, model=model) == [part]


@each(
    ("model", "block", "expected_losses"),
    [
        (OLD, Media(kind="image", source=Link("https://x.test/a"), place="p"), ["p"]),
        (PRO_3, Media(kind="document", source=UploadedFile(), place="p"), ["p"]),
        (PRO_3, Foreign(kind="x", place="p"), ["p"]),
        (
            FLASH,
            Media(kind="image", source=Inline("i", ""), detail="high", place="p"),
            ["(p.detail)"],
        ),
        (PRO_3, Media(kind="image", source=Inline("i", ""), detail="auto", place="p"), []),
    ],
)
def test_what_has_no_form_is_a_loss(model: str, block: Block, expected_losses: list[str]) -> None:
    assert losing(model, [turn("user", Text(text="a"), block)])[1] == expected_losses


def test_calls_have_ids_and_results_their_order_where_the_model_knows_ids() -> None:
    messages = [
        HI,
        turn("assistant", call("1", "look", '{"b": 1.0}'), call("2", "time"), call("3")),
        turn("user", result("3", Text(text="c")), result("1", Text(text="a"))),
        turn("user", Text(text="Go on."), result("2", Text(text="b"))),
    ]
    _, calls, results = contents(*messages)
    assert [part["functionCall"]["id"] for part in calls["parts"]] == ["1", "2", "3"]
    assert calls["parts"][1]["functionCall"] == {"id": "2", "name": "time", "args": {}}
    assert [part.get("functionResponse") for part in results["parts"]] == [
        {"id": "1", "name": "look", "response": {"result": "a"}},
        {"id": "2", "name": "time", "response": {"result": "b"}},
        {"id": "3", "name": "look", "response": {"result": "c"}},
        None,
    ]
    _, _, older = contents(*messages, model=FLASH)
    assert "id" not in older["parts"][0]["functionResponse"]


@each(
    ("content", "is_error", "response"),
    [
        ([Text(text="s")], False, {"result": "s"}),
        ([Text(text="a"), Text(text="b")], False, {"result": "ab"}),
        ([], False, {"result": ""}),
        ([Text(text="s")], True, {"error": "s"}),
        ([Text(text=' {"x": 0.70}')], False, {"x": 0.7}),
        ([Text(text="[1]")], False, {"result": "[1]"}),
        ([Text(text="{x")], False, {"result": "{x"}),
    ],
)
def test_a_result_is_an_object(content: list[Block], is_error: bool, response: Json) -> None:
    turns_written = contents(
        HI, turn("assistant", call("1")), turn("user", result("1", *content, is_error=is_error))
    )
    assert turns_written[2]["parts"][0]["functionResponse"]["response"] == response


def test_media_of_a_result_stand_inside_or_behind_all_results() -> None:
    messages = [
        HI,
        turn("assistant", call("1"), call("2")),
        turn("user", result("1", Text(text="a"), IMAGE), result("2", Text(text="b"))),
    ]
    blob = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    first, second = contents(*messages)[2]["parts"]
    assert first["functionResponse"]["parts"] == [blob]
    assert [list(part) for part in contents(*messages, model=FLASH)[2]["parts"]] == [
        ["functionResponse"],
        ["functionResponse"],
        ["inlineData"],
    ]
    assert "parts" not in second["functionResponse"]


def test_a_result_without_its_call_is_a_loss() -> None:
    _, losses = losing(PRO_3, [turn("user", result("9", Text(text="a")))])
    assert losses == ["9"]


def test_arguments_that_are_no_object_are_in_one() -> None:
    parts = model_parts(call("1", "look", "[1]"))
    assert parts[0]["functionCall"]["args"] == {"arguments": "[1]"}


@each(
    ("blocks", "signatures"),
    [
        ([call("1"), call("2")], [UNSIGNED, None]),
        ([Text(text="a"), call("1")], [None, UNSIGNED]),
        ([Reasoning(signature=GEMINIS), call("1"), call("2")], ["UzE=", None]),
        ([Reasoning(signature=GEMINIS), Text(text="a"), call("1")], ["UzE=", UNSIGNED]),
        ([Reasoning(signature=Signature("messages", "x")), call("1")], [UNSIGNED]),
        ([Text(text="a"), Reasoning(signature=GEMINIS)], [None, "UzE="]),
        (
            [Reasoning(signature=GEMINIS), Reasoning(signature=GEMINIS), call("1")],
            ["UzE=", "UzE="],
        ),
    ],
)
def test_the_first_call_of_a_turn_is_signed(
    blocks: list[Block], signatures: list[str | None]
) -> None:
    parts = model_parts(*blocks)
    assert [part.get("thoughtSignature") for part in parts] == signatures


def test_older_models_need_no_signature_of_a_call() -> None:
    assert model_parts(call("1"), model=FLASH) == [{"functionCall": {"name": "look", "args": {}}}]


def test_thoughts_return_to_the_vendor_alone() -> None:
    of_thought = Signature("generate_content", "thought:UzI=")
    assert model_parts(Reasoning(text="hm", signature=of_thought), Text(text="a")) == [
        {"text": "hm", "thought": True, "thoughtSignature": "UzI="},
        {"text": "a"},
    ]
    assert model_parts(Reasoning(text="hm", signature=GEMINIS), Text(text="a")) == [
        {"text": "hm", "thought": True},
        {"text": "a", "thoughtSignature": "UzE="},
    ]
    for signature in (None, Signature("messages", "x")):
        thought = Reasoning(text="hm", signature=signature, place="t")
        body, losses = losing(PRO_3, [turn("assistant", thought, Text(text="a")), HI])
        assert (body["contents"][0]["parts"], losses) == ([{"text": "a"}], ["(t)"])
