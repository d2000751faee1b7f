"""The turns and tools of a request as a target of another language is given them: in the order that
vendors require (around tool calls, at the beginning and at the end), with substitutes of what only
the caller's language has, unique ids of calls, and one result for each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from engine.translations.neutral.content import Block, Foreign, Text, ToolCall, ToolResult
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool, merged
from engine.values.trees import Json

_role: Callable[[Message], str] = attrgetter("role")
_blocks: Callable[[Message], list[Block]] = attrgetter("blocks")


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with tool results directly after the turn that called the tools; those between a
    call and its results follow."""
    if _are_first(messages):
        return messages
    result: list[Message] = []
    after_results: list[Message] = []
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            result += after_results
            after_results = []
            open_calls = {each.id for each in message.blocks if isinstance(each, ToolCall)}
            result.append(message)
            continue
        results = [block for block in message.blocks if isinstance(block, ToolResult)]
        if results:
            result.append(_part(message, results))
            open_calls.difference_update(block.id for block in results)
            content = [block for block in message.blocks if not isinstance(block, ToolResult)]
            if content:
                after_results.append(_part(message, content))
        else:
            after_results.append(message)
        if not open_calls:
            result += after_results
            after_results = []
    return result + after_results


def _are_first(messages: list[Message]) -> bool:
    """Whether all results are at the beginning of the message after an assistant's turn."""
    is_behind = False
    for message in messages:
        if message.role == "assistant":
            is_behind = True
            continue
        for block in message.blocks:
            if not isinstance(block, ToolResult):
                is_behind = False
            elif not is_behind:
                return False
        is_behind = False
    return True


def _part(message: Message, blocks: list[ToolResult] | list[Block]) -> Message:
    return Message(role=message.role, blocks=[*blocks], place=message.place)


def hoisted(request: ChatRequest) -> tuple[list[Block], list[Message]]:
    """The instructions, with those between the turns; and the turns, `merged`."""
    system: list[Block] = list(request.system)
    turns = request.messages
    if "system" in map(_role, turns):
        for message in turns:
            system += message.blocks if message.role == "system" else ()
        turns = [message for message in turns if message.role != "system"]
    return system, merged(turns)


def texts_only(blocks: Sequence[Block], losses: Losses) -> list[Block]:
    """The text blocks of instructions; other blocks are losses."""
    for block in blocks:
        if not isinstance(block, Text):
            losses.add(block.place, "instructions are text only")
    return [block for block in blocks if isinstance(block, Text)]


def from_user_to_user(
    request: ChatRequest,
    turns: list[Message],
    write: Callable[[Message, bool], object],
    losses: Losses,
    *,
    prefill: bool,
    user_first: bool,
) -> list[Json]:
    """The turns for a vendor that requires a user's turn at the end, unless the model accepts a
    `prefill`, and takes no instructions there. `user_first`: it requires one at the beginning, too,
    which is added to a conversation that the assistant begins. `write` returns the content of a
    turn; its second argument says whether the model continues the turn. Turns without content are
    left out."""
    last = turns[-1] if turns else None
    if last is not None and last.role == "assistant":
        if request.messages[-1].role == "system":
            place = request.messages[-1].place
            losses.add(place, "instructions cannot follow an assistant's turn")
        if not prefill:
            losses.add_prefill(last.place)
            turns = turns[:-1]
    continued = last if last is not None and last.role == "assistant" else None
    sources: list[Message] = []
    written_turns: list[Json] = []
    for turn in turns:
        if content := write(turn, turn is continued):
            sources.append(turn)
            written_turns.append({"role": turn.role, "content": content})
    if sources and sources[0].role == sources[-1].role == "user":  # nearly always
        return written_turns
    if all(map(_is_assistants, sources)):
        place = request.place_of("messages")
        losses.remainder_error = WrongType(place, "a user's turn with content for this model")
    elif _is_assistants(sources[-1]) and sources[-1] is not last:
        # The vendor refuses an empty turn, and would continue the assistant's before it.
        expected = "a last turn with content for this model"
        losses.remainder_error = WrongType(turns[-1].place, expected)
    elif user_first and _is_assistants(sources[0]):
        silent = Message(role="user", blocks=[Text(text=_SILENCE)], place=sources[0].place)
        return [{"role": "user", "content": write(silent, False)}, *written_turns]
    return written_turns


_SILENCE = "(The assistant begins.)"
"""The user's turn before a greeting."""


def results_before_others(message: Message) -> list[Block]:
    if len(message.blocks) == 1:
        return message.blocks
    return sorted(message.blocks, key=lambda block: not isinstance(block, ToolResult))


def _is_assistants(message: Message) -> bool:
    return message.role == "assistant"


def kinds_of(messages: list[Message]) -> list[type[Block]]:
    """The kinds of all blocks."""
    return list(map(type, chain.from_iterable(map(_blocks, messages))))


def with_substitutes(request: ChatRequest, kinds: list[type[Block]]) -> ChatRequest:
    """With functions and blocks for the tools and blocks of the caller's language alone; `kinds`
    are those of its blocks."""
    has_own = Foreign in kinds or BuiltInTool in map(type, request.tools)
    if not (has_own or request.loaded_tools or request.deferred_tools):
        return request
    messages = [replace(each, blocks=[*map(_block, each.blocks)]) for each in request.messages]
    return replace(request, tools=_tools(request), messages=messages)


def _tools(request: ChatRequest) -> list[Tool | BuiltInTool]:
    """The tools, and the loaded ones that are not declared already."""
    deferred = request.deferred_tools
    tools = [tool for tool in _functions(request.tools) if tool.name not in deferred]
    if request.loaded_tools:
        names = {tool.name for tool in tools if isinstance(tool, Tool)}
        for tool in _functions(request.loaded_tools):
            if tool.name not in names:
                names.add(tool.name)
                tools.append(tool)
    return tools


def _functions(tools: list[Tool | BuiltInTool]) -> list[Tool | BuiltInTool]:
    functions: list[Tool | BuiltInTool] = []
    for tool in tools:
        if isinstance(tool, BuiltInTool) and tool.functions:
            functions += tool.functions
        else:
            functions.append(tool)
    return functions


def _block(block: Block) -> Block:
    if isinstance(block, ToolResult):
        return replace(block, content=[_block(each) for each in block.content])
    return block.substitute or block if isinstance(block, Foreign) else block


_PARTS = (ToolCall, ToolResult)


def with_unique_calls(messages: list[Message]) -> list[Message]:
    """The messages with a new id for each call that has the id of an earlier one, and without
    results that repeat another one word for word, as agents that resume a session send them.

    A result belongs to the last turn with calls. If several calls of a turn have the same id, the
    first result belongs to the first of them.
    """
    blocks = chain.from_iterable(map(_blocks, messages))
    ids = [(type(each), each.id) for each in blocks if isinstance(each, _PARTS)]
    if len(set(ids)) == len(ids):
        return messages
    call_ids = [call_id for kind, call_id in ids if kind is ToolCall]
    if len(set(call_ids)) < len(call_ids):
        renaming = _Renaming(set(call_ids))
        messages = [renaming.message(message) for message in messages]
    return _without_repeated_results(messages)


def with_results(messages: list[Message]) -> list[Message]:
    """The messages with a result for each call that has none, unless the conversation ends with its
    turn, and with texts for results without a call: every vendor refuses what clients send after an
    interruption or when they shorten a conversation."""
    blocks = list(chain.from_iterable(map(_blocks, messages)))
    answered = {each.id for each in blocks if isinstance(each, ToolResult)}
    called = {each.id for each in blocks if isinstance(each, ToolCall)}
    if answered == called:
        return messages  # nearly always
    if not answered <= called:
        messages = [replace(each, blocks=[*_shown(each.blocks, called)]) for each in messages]
    result: list[Message] = []
    missing: list[Block] = []
    for message in messages:
        if missing and message.role != "assistant":
            result.append(Message(role="user", blocks=missing, place=message.place))
            missing = []
        result.append(message)
        for each in message.blocks:
            if isinstance(each, ToolCall) and each.id not in answered:
                text = Text(text=_NO_RESULT, place=each.place)
                missing.append(ToolResult(id=each.id, content=[text], place=each.place))
    return result


def _shown(blocks: list[Block], called: set[str]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, ToolResult) and block.id not in called:
            kind = "error" if block.is_error else "result"
            yield Text(text=_NO_CALL.format(kind, block.id), place=block.place)
            yield from block.content
        else:
            yield block


_NO_CALL = "(The {} of the tool call {}, which is not in this conversation:)"
_NO_RESULT = "(This call has no result: it may have been interrupted.)"


def _without_repeated_results(messages: list[Message]) -> list[Message]:
    """Without results that are equal to an earlier one, and messages that had no other."""
    seen: set[bytes] = set()
    remaining = []
    for message in messages:
        blocks = [block for block in message.blocks if not _is_repeated(block, seen)]
        if len(blocks) == len(message.blocks):
            remaining.append(message)
        elif blocks:
            remaining.append(replace(message, blocks=blocks))
    return remaining


def _is_repeated(block: Block, seen: set[bytes]) -> bool:
    """Whether a block is a result that was `seen`, to which it is added otherwise."""
    if not isinstance(block, ToolResult):
        return False
    content = [(type(each).__name__, replace(each, place="", cache="")) for each in block.content]
    result = msgspec.msgpack.encode((block.id, block.is_error, content))
    is_repeated = result in seen
    seen.add(result)
    return is_repeated


class _Renaming:
    """Gives the blocks of a conversation their new ids, in its order."""

    def __init__(self, ids: set[str]) -> None:
        self._all = ids
        """The callers' ids; a new id must not be one of them."""
        self._called: dict[str, int] = {}
        """How often each of the callers' ids has been given a number."""
        self._open: dict[str, deque[str]] = {}
        self._in_turn = False

    def message(self, message: Message) -> Message:
        if message.role != "assistant":
            self._in_turn = False
        elif not self._in_turn:
            self._in_turn, self._open = True, {}
        return replace(message, blocks=[self._block(each) for each in message.blocks])

    def _block(self, block: Block) -> Block:
        if isinstance(block, ToolCall):
            new = self._new_id(block.id)
            self._open.setdefault(block.id, deque()).append(new)
            return block if new == block.id else replace(block, id=new)
        if isinstance(block, ToolResult) and (waiting := self._open.get(block.id)):
            new = waiting.popleft() if len(waiting) > 1 else waiting[0]
            return block if new == block.id else replace(block, id=new)
        return block

    def _new_id(self, call_id: str) -> str:
        number = self._called.get(call_id, 0) + 1
        new = call_id
        if number > 1:
            while (new := f"{call_id}_{number}") in self._all:
                number += 1
        self._called[call_id] = number
        return new
