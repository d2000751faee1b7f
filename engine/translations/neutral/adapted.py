"""The turns and tools of a request as a target of another language is given them: with substitutes
of what only the caller's language has, unique ids of calls, and one result for each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import chain
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from engine.translations.neutral.content import Block, Foreign, ToolCall, ToolResult
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool

_blocks: Callable[[Message], list[Block]] = attrgetter("blocks")


def with_substitutes(request: ChatRequest, language: str) -> ChatRequest:
    """The request for a target of `language`, with functions and blocks that replace the tools and
    blocks that only the caller's language has."""
    if request.language == language or not _may_have_substitutes(request):
        return request
    return replace(
        request, tools=_tools(request), messages=[_message(message) for message in request.messages]
    )


def _may_have_substitutes(request: ChatRequest) -> bool:
    blocks = chain.from_iterable(map(_blocks, request.messages))
    if Foreign in map(type, blocks) or BuiltInTool in map(type, request.tools):
        return True
    return bool(request.loaded_tools or request.deferred_tools)


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


def _message(message: Message) -> Message:
    for block in message.blocks:
        if _has_substitute(block):
            return replace(message, blocks=[_block(each) for each in message.blocks])
    return message


def _has_substitute(block: Block) -> bool:
    if isinstance(block, ToolResult):
        return any(map(_has_substitute, block.content))
    return isinstance(block, Foreign) and block.substitute is not None


def _block(block: Block) -> Block:
    if isinstance(block, ToolResult) and _has_substitute(block):
        return replace(block, content=[_block(each) for each in block.content])
    return block.substitute or block if isinstance(block, Foreign) else block


_PARTS = (ToolCall, ToolResult)


def with_unique_calls(messages: list[Message]) -> list[Message]:
    """The messages with a new id for each call that has the id of an earlier one, and without
    results that repeat another one word for word, as agents that resume a session send them.

    A result belongs to the last turn with calls. If several calls of a turn have the same id, the
    first result belongs to the first of them.
    """
    kinds = list(map(type, chain.from_iterable(map(_blocks, messages))))
    if kinds.count(ToolCall) < 2 and kinds.count(ToolResult) < 2:
        return messages
    blocks = chain.from_iterable(map(_blocks, messages))
    ids = [(type(each), each.id) for each in blocks if isinstance(each, _PARTS)]
    if len(set(ids)) == len(ids):
        return messages
    call_ids = [call_id for kind, call_id in ids if kind is ToolCall]
    if len(set(call_ids)) < len(call_ids):
        renaming = _Renaming(set(call_ids))
        messages = [renaming.message(message) for message in messages]
    return _without_repeated_results(messages)


def _without_repeated_results(messages: list[Message]) -> list[Message]:
    """The messages without results that are equal to an earlier one, and without those that had
    nothing else."""
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
    content = [
        (type(each).__name__, replace(each, place="", extra={}, cache="")) for each in block.content
    ]
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
        """The new ids of the calls of the last turn, by the callers' ids."""
        self._in_turn = False

    def message(self, message: Message) -> Message:
        """The next message, its blocks with their new ids."""
        if message.role != "assistant":
            self._in_turn = False
        elif not self._in_turn:
            self._in_turn, self._open = True, {}
        return replace(message, blocks=[self._block(each) for each in message.blocks])

    def _block(self, block: Block) -> Block:
        """The block with its new id."""
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
