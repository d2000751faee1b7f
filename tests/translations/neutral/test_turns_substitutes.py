"""What stands for blocks and tools that only the caller's language has."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import Foreign, Text, ToolCall
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool
from engine.translations.neutral.turns import kinds_of, with_substitutes, with_unique_calls
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth
from tests.translations.neutral.test_turns import turn

SEARCH = BuiltInTool(name="search", raw=Raw(b"{}"))
GROUP = BuiltInTool(name="group", raw=Raw(b"{}"), functions=[Tool(name="g__x"), Tool(name="g__y")])
CALL = ToolCall(id="1", name="g__x")
FOREIGN = Foreign(kind="call", substitute=CALL)
UNKNOWN = Foreign(kind="other")


def request(**members: object) -> ChatRequest:
    return ChatRequest(**{"language": "a", "model": "m", "messages": [], **members})  # type: ignore[arg-type]


def substituted(request: ChatRequest) -> ChatRequest:
    return with_substitutes(request, kinds_of(request.messages))


def names(request: ChatRequest) -> list[str]:
    return [tool.name for tool in substituted(request).tools]


def test_functions_take_the_place_of_a_tool() -> None:
    chat_request = request(tools=[Tool(name="first"), GROUP, Tool(name="last")])
    assert names(chat_request) == ["first", "g__x", "g__y", "last"]


def test_a_tool_without_functions_stays_for_the_writer_to_lose() -> None:
    assert substituted(request(tools=[SEARCH])).tools == [SEARCH]


def test_loaded_tools_are_declared_once() -> None:
    loaded = [GROUP, Tool(name="late"), GROUP, Tool(name="late")]
    chat_request = request(tools=[Tool(name="g__x")], loaded_tools=loaded)
    assert names(chat_request) == ["g__x", "g__y", "late"]


def test_a_block_takes_the_place_of_one_that_the_target_lacks() -> None:
    blocks = [Text(text="Hi"), FOREIGN, UNKNOWN]
    chat_request = request(messages=[Message(role="assistant", blocks=blocks)])
    [message] = substituted(chat_request).messages
    assert message.blocks == [Text(text="Hi"), CALL, UNKNOWN]


def test_the_request_itself_is_not_changed() -> None:
    chat_request = request(tools=[GROUP], messages=[Message(role="assistant", blocks=[FOREIGN])])
    substituted(chat_request)
    assert chat_request.tools == [GROUP]
    assert chat_request.messages[0].blocks == [FOREIGN]


@each(
    ("before", "after"),
    [
        ("u:- a:x u:x a:y u:y", "- x x y y"),
        ("a:x u:x a:x u:x a:x u:x", "x x x_2 x_2 x_3 x_3"),
        ("a:xx u:xx", "x x_2 x x_2"),
        ("a:xx u:x u:x", "x x_2 x x_2"),
        ("a:x a:x u:xx", "x x_2 x x_2"),
        ("a:x u:- a:x u:x", "x - x_2 x_2"),  # no result of the first
        ("a:x u:xx a:x u:x", "x x x_2 x_2"),
        ("a:x a:x u:z", "x x_2 z"),
    ],
)
def test_calls_have_ids_of_their_own_and_results_those_of_their_calls(
    before: str, after: str
) -> None:
    messages = with_unique_calls([turn(text) for text in before.split()])
    ids = [getattr(block, "id", "-") for message in messages for block in message.blocks]
    assert ids == after.split()


def test_a_new_id_is_none_that_the_caller_uses() -> None:
    messages = [turn("a:x"), turn("a:x")]
    messages[0].blocks += turn("a:x").blocks
    messages[0].blocks[1].id = "x_2"  # type: ignore[attr-defined]
    first, second = with_unique_calls(messages)
    assert [block.id for block in [*first.blocks, *second.blocks]] == ["x", "x_2", "x_3"]  # type: ignore[attr-defined]


def test_the_cost_of_one_id_for_all_calls_grows_with_their_number() -> None:
    def prepare(size: int) -> Work:
        messages = [turn("a:" + "x" * size), turn("u:" + "x" * size)]
        return lambda: with_unique_calls(messages)

    assert growth(prepare) < MAX_GROWTH
