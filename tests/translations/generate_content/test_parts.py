"""Blocks of answers -> parts, in a stream and in one piece alike."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    Event,
)
from tests.support.each import each
from tests.translations.generate_content.answer_writing import (
    CALL,
    FOREIGN,
    MARK,
    MARKED_CALL,
    OF_THOUGHT,
    OWN,
    SEALED,
    Json,
    block,
    parts_of,
    request,
    whole_parts,
)


@each(
    ("events", "parts"),
    [
        (block(Text(), "a"), [{"text": "a"}]),
        (block(Text(), "", ""), []),
        (block(Refusal(), "no"), [{"text": "no"}]),
        (block(ToolCall(id="c", name="f"), '{"a":1.0}'), [MARKED_CALL]),
        (
            block(ToolCall(id="c", name="f")),
            [
                {
                    "functionCall": {"id": "c", "name": "f", "args": {}},
                    "thoughtSignature": MARK,
                }
            ],
        ),
        (
            [
                *block(Text(), "a"),
                *block(ToolCall(id="c", name="f"), '{"a":1.0}'),
                *block(ToolCall(id="c", name="f"), '{"a":1.0}'),
            ],
            [{"text": "a"}, MARKED_CALL, CALL],
        ),
        (block(Reasoning(), "hm"), [{"text": "hm", "thought": True}]),
        (
            [*block(Reasoning(), "hm", sign=OWN), *block(Text(), "a")],
            [{"text": "hm", "thought": True}, {"text": "a", "thoughtSignature": "UzE="}],
        ),
        (
            [*block(Reasoning(), "hm", sign=OF_THOUGHT), *block(Text(), "a")],
            [
                {"text": "hm", "thought": True},
                {"text": "", "thought": True, "thoughtSignature": "UzI="},
                {"text": "a"},
            ],
        ),
        (
            [*block(Reasoning(), sign=FOREIGN), *block(ToolCall(id="c", name="f"), '{"a":1.0}')],
            [{**CALL, "thoughtSignature": SEALED}],
        ),
        (
            [*block(Reasoning(), sign=OWN), *block(Reasoning(), sign=FOREIGN), *block(Text(), "a")],
            [{"text": "", "thoughtSignature": "UzE="}, {"text": "a", "thoughtSignature": SEALED}],
        ),
        (
            [*block(Text(), "a"), *block(Reasoning(), sign=FOREIGN)],
            [{"text": "a"}, {"text": "", "thoughtSignature": SEALED}],
        ),
        (
            block(Media(kind="image", source=Inline("image/png", "AA=="))),
            [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
        ),
        (
            block(Media(kind="image", source=Link("https://x.test/a"))),
            [{"fileData": {"fileUri": "https://x.test/a"}}],
        ),
        (
            block(
                Foreign(
                    language="generate_content",
                    kind="executableCode",
                    raw=Raw(b'{"executableCode":{}}'),
                )
            ),
            [{"executableCode": {}}],
        ),
        (block(Foreign(language="messages", kind="x", raw=Raw(b"{}"))), []),
    ],
)
def test_blocks_are_parts(events: list[Event], parts: list[Json]) -> None:
    assert parts_of(events) == parts
    assert whole_parts(events) == parts


@each("visible", [None, False])
def test_thoughts_that_were_not_wanted_leave_their_signature(visible: bool | None) -> None:
    events = [*block(Reasoning(), "hm", sign=OWN), *block(Text(), "a")]
    chat_request = request(visible=visible)
    assert parts_of(events, chat_request) == [{"text": "a", "thoughtSignature": "UzE="}]
    assert whole_parts(events, chat_request) == [{"text": "a", "thoughtSignature": "UzE="}]
